import Synchronization
import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An event of the terminal driver.
public enum DriverEvent: Hashable, Sendable {
  /// Input from the terminal, or its new size.
  case terminal(TerminalEvent)
  /// SIGINT, SIGTERM or SIGHUP: a request to end the program. A second one ends it at once; after SIGINT, which may
  /// have asked the user, only one within five seconds.
  case terminate(signal: Int32)
  /// The program was suspended and has resumed. The driver redraws the screen.
  case resumed
  /// The terminal was closed.
  case hangup
}

/// A terminal, driven by a thread of its own.
///
/// Only the thread reads, writes and configures the terminal. It waits in `poll` for keys, signals and other threads,
/// so it uses no CPU while idle. It never blocks on a terminal that does not read: while bytes of a frame are unsent,
/// newer frames replace each other in the mailbox, and the newest is drawn next. Other threads pass data through the
/// mailbox, under a mutex that is held only for that.
public final class TerminalDriver: Sendable {
  /// Maximum size of waiting sequences, such as for the clipboard, in bytes; more are dropped.
  public static let maximumWaiting = 1 << 18

  /// Data passed to the thread.
  private struct Mailbox {
    var frame: Grid?
    var sequences: [UInt8] = []
    var depth: ColorDepth?
    /// Requests in order, each with a closure that the thread calls after performing it.
    var requests: [(request: Request, done: (@Sendable () -> Void)?)] = []
    /// Set when the thread has ended; requests then complete at once.
    var isOver = false
  }

  private enum Request { case suspend, resume, stop, end }

  private static let isTaken = Atomic<Bool>(false)

  /// Whether this driver set `isTaken`; cleared once, by its end or its deinitialization.
  private let isHolder = Atomic<Bool>(true)
  private let file: TerminalFile
  private let mailbox = Mutex(Mailbox())
  private let depth: ColorDepth
  private let sink: @Sendable ([DriverEvent]) -> Void

  /// Opens the terminal; `start` takes it over. Events go to `sink`, on the driver's thread, in order.
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

  /// The current columns and rows.
  public var size: Size { file.size }

  /// Takes over the terminal and begins to deliver events, the size first. The terminal is restored by `end`, and if
  /// the program ends in any other way except SIGKILL.
  public func start() {
    SignalPipe.install()
    // The thread retains the driver until it ends.
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
      return hangUp()
    }
    pthread_detach(thread)
  }

  /// Shows a grid as soon as the terminal accepts it; newer grids replace one that waits.
  public func show(_ grid: Grid) { updateMailbox { $0.frame = grid } }

  /// Sends a sequence of `TerminalSequences` between two frames.
  public func send(_ sequence: [UInt8]) {
    updateMailbox { if $0.sequences.count + sequence.count <= Self.maximumWaiting { $0.sequences += sequence } }
  }

  /// Changes the number of colors.
  public func use(_ depth: ColorDepth) { updateMailbox { $0.depth = depth } }

  /// Releases the terminal to another program, such as an editor; calls `done` when it is free.
  public func suspend(_ done: @escaping @Sendable () -> Void) { enqueue(.suspend, done) }

  /// Takes over the terminal again and redraws the last grid. Input left by the other program is dropped.
  public func resume() { enqueue(.resume, nil) }

  /// Suspends the whole program, as Ctrl-Z does, until the shell resumes it; `.resumed` reports that.
  public func stop() { enqueue(.stop, nil) }

  /// Restores the terminal for good; calls `done` when another driver may take it.
  public func end(_ done: @escaping @Sendable () -> Void) { enqueue(.end, done) }

  private func enqueue(_ request: Request, _ done: (@Sendable () -> Void)?) {
    let isOver = mailbox.withLock { mail in
      if !mail.isOver { mail.requests.append((request, done)) }
      return mail.isOver
    }
    if isOver { done?() } else { SignalPipe.send(SignalPipe.wake) }
  }

  private func updateMailbox(_ change: (inout Mailbox) -> Void) {
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
      for (request, done) in mail.requests {
        if !isOver { perform(request, &loop) }
        isOver = isOver || request == .end
        done?()
      }
      if isOver { return closeMailbox() }
      loop.write()
    }
    CrashGuard.disarm()
    SignalPipe.uninstall(isHungUp: true)
    hangUp()
  }

  private func perform(_ request: Request, _ loop: inout DriverLoop) {
    switch request {
    case .suspend: loop.leave()
    case .resume:
      // The input was typed for the other program, which may not have read it; here it would run commands.
      file.dropInput()
      loop.enter()
    case .stop:
      loop.stop()
      sink([.resumed, .terminal(.resize(file.size))])
    case .end:
      loop.leave()
      SignalPipe.uninstall()
      loop.handlePendingSignals()
      giveBack()
    }
  }

  /// Allows another driver to take the terminal.
  private func giveBack() {
    if isHolder.exchange(false, ordering: .relaxed) { Self.isTaken.store(false, ordering: .relaxed) }
  }

  /// Ends the driver because the terminal was closed.
  private func hangUp() {
    giveBack()
    closeMailbox()
    sink([.hangup])
  }

  /// Closes the mailbox and completes the pending requests.
  private func closeMailbox() {
    let requests = mailbox.withLock { mail in
      defer { (mail.requests, mail.isOver) = ([], true) }
      return mail.requests
    }
    for (_, done) in requests { done?() }
  }
}
