import Glibc
import Synchronization
import TerminalCells

/// What the driver tells.
public enum DriverEvent: Hashable, Sendable {
  /// The terminal said something, or has another size.
  case terminal(TerminalEvent)
  /// SIGINT, SIGTERM or SIGHUP: the program is asked to end. A second one ends it at once; behind SIGINT, where
  /// somebody may have stayed, one within five seconds.
  case terminate(signal: Int32)
  /// The program was stopped and goes on. The screen is drawn anew by itself.
  case resumed
  /// The terminal is gone.
  case hangup
}

/// A terminal, held by a thread of its own.
///
/// The thread alone reads, writes and changes the terminal. It waits in `poll` for keys, for signals and for others who
/// wake it, so it costs nothing while nothing happens, and it never waits for a terminal that does not read: while bytes of a
/// frame are still to be sent, newer frames replace each other in the mailbox, and the newest one is drawn next. What others hand
/// over lies in the mailbox, guarded by a mutex that nobody keeps while he does anything else.
public final class TerminalDriver: Sendable {
  /// Bytes of sequences, such as for the clipboard, that wait at most; more are dropped.
  public static let maximumWaiting = 1 << 18

  /// What is handed to the thread.
  private struct Mailbox {
    var frame: Grid?
    var sequences: [UInt8] = []
    var depth: ColorDepth?
    /// In order; what is called on the thread when a wish has come true is beside it.
    var wishes: [(wish: Wish, done: (@Sendable () -> Void)?)] = []
    /// Nobody reads it any more: there is no terminal, and every wish about it has come true.
    var isOver = false
  }

  private enum Wish { case suspend, resume, stop, end }

  private static let isTaken = Atomic<Bool>(false)

  /// Whether `isTaken` is this driver's: given up once, by whoever comes first of its end and its release.
  private let isHolder = Atomic<Bool>(true)
  private let file: TerminalFile
  private let mailbox = Mutex(Mailbox())
  private let depth: ColorDepth
  private let sink: @Sendable ([DriverEvent]) -> Void

  /// Opens the terminal; `start` takes it. What it tells goes to `sink`, on the driver's thread, in order.
  public init(path: String = "/dev/tty", depth: ColorDepth, sink: @escaping @Sendable ([DriverEvent]) -> Void)
    throws(TerminalError)
  {
    guard !Self.isTaken.exchange(true, ordering: .relaxed) else { throw .alreadyRunning }
    do {
      file = try TerminalFile(path: path)
    } catch {
      Self.isTaken.store(false, ordering: .relaxed)
      throw error
    }
    self.depth = depth
    self.sink = sink
  }

  deinit {
    close(file.descriptor)
    giveBack()
  }

  /// Columns and rows as they are now.
  public var size: Size { file.size }

  /// Takes the terminal and begins to tell events, the size first. It is given back by `end`, and if the program ends in any
  /// other way than SIGKILL.
  public func start() {
    SignalPipe.install()
    // The thread keeps the driver until it ends.
    let held = Unmanaged.passRetained(self).toOpaque()
    var thread = pthread_t()
    let failed = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<TerminalDriver>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, held)
    guard failed == 0 else {
      Unmanaged<TerminalDriver>.fromOpaque(held).release()
      SignalPipe.uninstall()
      return giveUp()
    }
    pthread_detach(thread)
  }

  /// Shows a grid, as soon as the terminal takes it. Of several that come meanwhile only the newest is drawn.
  public func show(_ grid: Grid) { hand { $0.frame = grid } }

  /// Sends a sequence of `TerminalSequences`, between two frames.
  public func send(_ sequence: [UInt8]) {
    hand { if $0.sequences.count + sequence.count <= Self.maximumWaiting { $0.sequences += sequence } }
  }

  /// Draws with another number of colors from now on.
  public func use(_ depth: ColorDepth) { hand { $0.depth = depth } }

  /// Gives the terminal to another program, an editor say; `done` is called when it is free.
  public func suspend(_ done: @escaping @Sendable () -> Void) { wish(.suspend, done) }

  /// Takes the terminal back and draws the last grid anew. Keys that the other program has left are dropped.
  public func resume() { wish(.resume, nil) }

  /// Stops the whole program, as Ctrl-Z does, until the shell lets it go on; `.resumed` tells that.
  public func stop() { wish(.stop, nil) }

  /// Gives the terminal back for good; `done` is called when it is as it was and another driver may take it.
  public func end(_ done: @escaping @Sendable () -> Void) { wish(.end, done) }

  private func wish(_ wish: Wish, _ done: (@Sendable () -> Void)?) {
    let isOver = mailbox.withLock { mail in
      if !mail.isOver { mail.wishes.append((wish, done)) }
      return mail.isOver
    }
    if isOver { done?() } else { SignalPipe.send(SignalPipe.wake) }
  }

  private func hand(_ change: (inout Mailbox) -> Void) {
    mailbox.withLock { change(&$0) }
    SignalPipe.send(SignalPipe.wake)
  }

  private func run() {
    var loop = DriverLoop(file: file, depth: depth)
    loop.enter()
    sink([.terminal(.resize(file.size))])
    while true {
      let events = loop.wait()
      if !events.isEmpty { sink(events) }
      if loop.isHungUp { break }
      let mail = mailbox.withLock { mail in
        defer { mail = Mailbox() }
        return mail
      }
      if let depth = mail.depth { loop.writer.depth = depth }
      if let frame = mail.frame { loop.newest = frame }
      loop.sequences += mail.sequences
      var isOver = false
      for (wish, done) in mail.wishes {
        if !isOver { grant(wish, &loop) }
        isOver = isOver || wish == .end
        done?()
      }
      if isOver { return closeMailbox() }
      loop.write()
    }
    CrashGuard.disarm()
    SignalPipe.uninstall(isHungUp: true)
    giveUp()
  }

  private func grant(_ wish: Wish, _ loop: inout DriverLoop) {
    switch wish {
    case .suspend: loop.leave()
    case .resume:
      // It was typed for the other program, which may read no keys: here it would be commands.
      file.dropInput()
      loop.enter()
    case .stop:
      loop.stop()
      sink([.resumed, .terminal(.resize(file.size))])
    case .end:
      loop.leave()
      SignalPipe.uninstall()
      loop.obeyWhatCameMeanwhile()
      giveBack()
    }
  }

  /// Another driver may take the terminal.
  private func giveBack() {
    if isHolder.exchange(false, ordering: .relaxed) { Self.isTaken.store(false, ordering: .relaxed) }
  }

  /// The terminal is gone.
  private func giveUp() {
    giveBack()
    closeMailbox()
    sink([.hangup])
  }

  /// Nobody reads the mailbox from now on: whoever waits for something of the terminal waits no longer.
  private func closeMailbox() {
    let wishes = mailbox.withLock { mail in
      defer { (mail.wishes, mail.isOver) = ([], true) }
      return mail.wishes
    }
    for (_, done) in wishes { done?() }
  }
}
