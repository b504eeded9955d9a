import Synchronization
import TerminalCells
import Testing

@testable import StickiesTerminal

/// A terminal that is a grid: a test types into it and waits for its contents. It draws nothing and has a fixed size.
final class GridTerminal: BoardTerminal {
  private struct State {
    var grid: Grid
    var frames = 0
    var sent = [[UInt8]]()
    var lastWaiter = 0
    var waiters = [
      (
        number: Int, fits: @Sendable (Grid) -> Bool,
        continuation: CheckedContinuation<(grid: Grid, frame: Int), Never>
      )
    ]()
  }

  let size: Size
  private let state: Mutex<State>
  private let sink: @Sendable ([DriverEvent]) -> Void
  private let didResume: AsyncStream<Void>.Continuation
  /// The times at which an external editor has returned the terminal.
  let resumes: AsyncStream<Void>

  init(_ size: Size, sink: @escaping @Sendable ([DriverEvent]) -> Void) {
    self.size = size
    self.sink = sink
    (resumes, didResume) = AsyncStream.makeStream(of: Void.self)
    state = Mutex(State(grid: Grid(size)))
  }

  // MARK: - For the session

  func start() { sink([.terminal(.resize(size))]) }

  func show(_ grid: Grid) {
    let (woken, frame) = state.withLock { state in
      state.grid = grid
      state.frames += 1
      let woken = state.waiters.filter { $0.fits(grid) }
      state.waiters.removeAll { $0.fits(grid) }
      return (woken, state.frames)
    }
    for waiter in woken { waiter.continuation.resume(returning: (grid, frame)) }
  }

  func send(_ sequence: [UInt8]) { state.withLock { $0.sent.append(sequence) } }

  func stop() {}

  func suspend(_ done: @escaping @Sendable () -> Void) { done() }

  func resume() { didResume.yield() }

  func end(_ done: @escaping @Sendable () -> Void) { done() }

  // MARK: - For the test

  /// The contents.
  var grid: Grid { state.withLock { $0.grid } }
  /// The number of grids that were shown.
  var frames: Int { state.withLock { $0.frames } }
  /// Sequences that were sent, such as for the clipboard.
  var sent: [[UInt8]] { state.withLock { $0.sent } }

  /// Types text; `\n` is return.
  func types(_ text: String) {
    for character in text { press(character == "\n" ? .enter : .character(character)) }
  }

  func press(_ key: Key, _ modifiers: Modifiers = []) { sink([.terminal(.key(KeyEvent(key, modifiers)))]) }

  func paste(_ text: String, isCut: Bool = false, isOpen: Bool = false) {
    sink([.terminal(.paste(PasteEvent(text: text, isCut: isCut, isOpen: isOpen)))])
  }

  /// The terminal sends something unrequested, such as an answer.
  func says(_ sequence: String) {
    var decoder = TerminalDecoder()
    sink(decoder.feed(sequence.utf8).map { .terminal($0) })
  }

  /// The window changes its size, which later drawings use.
  func resize(_ size: Size) { sink([.terminal(.resize(size))]) }

  /// The program is asked to end.
  func asksToEnd(_ signal: CInt) { sink([.terminate(signal: signal)]) }

  func mouse(_ kind: MouseEvent.Kind, _ x: Int, _ y: Int) {
    sink([.terminal(.mouse(MouseEvent(kind, at: Point(x: x, y: y))))])
  }

  /// Clicks quickly, even on a busy machine: all events arrive at once.
  func click(_ x: Int, _ y: Int, times: Int = 1) {
    let at = Point(x: x, y: y)
    sink(
      (0..<times).flatMap { _ in
        [MouseEvent(.press(.left), at: at), MouseEvent(.release(.left), at: at)].map { .terminal(.mouse($0)) }
      })
  }

  /// Waits until the contents satisfy a condition. Past the deadline it records an issue with the contents.
  @discardableResult
  func expects(
    _ what: String = "what was waited for", place: SourceLocation = #_sourceLocation,
    _ fits: @escaping @Sendable (Grid) -> Bool
  ) async -> Grid {
    await shown(what, place, fits).grid
  }

  /// Waits until a text is visible, and returns the number of the first grid that showed it.
  func frame(showing text: String, place: SourceLocation = #_sourceLocation) async -> Int {
    await shown(text, place) { $0.text.contains(text) }.frame
  }

  private func shown(
    _ what: String, _ place: SourceLocation, _ fits: @escaping @Sendable (Grid) -> Bool
  ) async -> (grid: Grid, frame: Int) {
    await withCheckedContinuation { continuation in
      let (now, number): ((Grid, Int)?, Int) = state.withLock { state in
        if fits(state.grid) { return ((state.grid, state.frames), 0) }
        state.lastWaiter += 1
        state.waiters.append((state.lastWaiter, fits, continuation))
        return (nil, state.lastWaiter)
      }
      if let now { return continuation.resume(returning: now) }
      Task { [self] in
        // A deadline that only ends waits which would otherwise be endless.
        try await Task.sleep(for: Self.patience)
        cancel(number, what, place)
      }
    }
  }

  private static let patience = Duration.seconds(60)

  private func cancel(_ number: Int, _ what: String, _ place: SourceLocation) {
    let late = state.withLock { state -> (CheckedContinuation<(grid: Grid, frame: Int), Never>, Grid, Int)? in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return (state.waiters.remove(at: index).continuation, state.grid, state.frames)
    }
    guard let (continuation, grid, frame) = late else { return }
    Issue.record("\(what) is not shown, but\n\(grid.text)", sourceLocation: place)
    continuation.resume(returning: (grid, frame))
  }

  /// Waits until a text is visible.
  @discardableResult
  func expects(_ text: String, place: SourceLocation = #_sourceLocation) async -> Grid {
    await expects(text, place: place) { $0.text.contains(text) }
  }

  /// Waits until the tool bar shows a text and no longer slides, so that a click reaches the button that the grid shows
  /// there. The bar must begin at the left edge of the screen.
  @discardableResult
  func expectsToolBar(_ text: String, place: SourceLocation = #_sourceLocation) async -> Grid {
    await expects("the tool bar at rest with \(text)", place: place) { grid in
      let bar = grid.text(row: grid.size.height - 2)
      return bar.hasPrefix("  All ") && bar.contains(text)
    }
  }

  /// Waits until a text is no longer shown.
  @discardableResult
  func expectsNo(_ text: String, place: SourceLocation = #_sourceLocation) async -> Grid {
    await expects("a screen without \(text)", place: place) { !$0.text.contains(text) }
  }
}

extension Grid {
  /// Where a text begins on the screen; nil where it is not.
  func place(of text: String) -> Point? {
    let wanted = Array(text)
    for y in 0..<size.height {
      let row = (0..<size.width).map { self[$0, y].text }
      for x in 0..<max(0, size.width - wanted.count + 1)
      where zip(row[x...], wanted).allSatisfy({ $0 == String($1) }) {
        return Point(x: x, y: y)
      }
    }
    return nil
  }
}
