import FreedMemory
import GraphClient
import GraphControllers
import GraphModel
import GraphOffline
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalApplication
import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs `stickies open`: the terminal's driver, the client and the application. Keys arrive from the driver's thread
/// through a stream, commits and events of the connection on the main actor; all of them are handled in turns of the
/// application, whose grid goes to the driver.
@MainActor
public final class BoardSession {
  /// An element of the stream that drives the turns.
  private enum LoopEvent: Sendable {
    case events([DriverEvent])
    /// A turn was requested, by a change or a timer.
    case turn
  }

  let client: GraphClient
  private let driver: any BoardTerminal
  private let application: Application
  private let wakes: AsyncStream<LoopEvent>
  private let wake: AsyncStream<LoopEvent>.Continuation
  private let user: String
  /// Requests of views in the background; the answers arrive on this actor.
  private let requests: RequestCenter<BoardRequest, BoardResponse>
  private let batches: NoteBatches
  private let editor: ExternalEditor
  /// Takes the text that the external editor has saved so far; nil if no editor is open.
  private var leaveEditor: (() -> Void)?
  /// Set after the last turn.
  private var isEnding = false
  private let keepTexts: ([String]) -> String?
  /// The changes that were lost at the end; set by `run`.
  public private(set) var loss: UnsentLoss?

  /// Changes that did not reach the server and that the user did not discard.
  public struct UnsentLoss: Sendable, Hashable {
    /// The number of changed objects.
    public let count: Int
    /// False if some texts could not be written to a file.
    public let isKept: Bool
    /// The file with the texts; nil if there were none, or if it could not be written.
    public let file: String?
  }

  private(set) var screen: BoardScreen?
  private var alarm: Task<Void, Never>?
  private var memoryTimer: TimerID?
  /// Time without answers after which freed memory is returned to the system, in milliseconds.
  private static let quietMilliseconds: Int64 = 1_000
  private var isTurnAsked = false

  /// Creates a session on the terminal of this process.
  /// - Parameters:
  ///   - configuration: class and interface, made by `ApplicationConfiguration.board`.
  ///   - launcher: the program's only one; it refuses a second session while this one runs.
  ///   - editor: another program, which has the terminal while it is open.
  ///   - keepTexts: writes texts that the server did not accept into a file and returns its path.
  /// - Throws: `TerminalError` if there is no terminal, `ApplicationError` if a name is unknown or another session
  ///   runs.
  public convenience init(
    _ client: GraphClient, board: Board, depth: ColorDepth, configuration: ApplicationConfiguration,
    launcher: ApplicationLauncher, editor: ExternalEditor, keepTexts: @escaping ([String]) -> String?
  ) throws {
    try self.init(
      client, board: board, depth: depth, user: client.author, configuration: configuration,
      launcher: launcher, editor: editor, keepTexts: keepTexts
    ) { sink in
      try TerminalDriver(depth: depth, sink: sink)
    }
  }

  /// Creates a session on any terminal.
  /// - Parameters:
  ///   - user: the author of the client's commits.
  ///   - makeTerminal: creates the terminal; its argument receives events, from any thread.
  init(
    _ client: GraphClient, board: Board, depth: ColorDepth, user: String,
    configuration: ApplicationConfiguration, launcher: ApplicationLauncher, editor: ExternalEditor,
    keepTexts: @escaping ([String]) -> String?,
    makeTerminal: (@escaping @Sendable ([DriverEvent]) -> Void) throws -> any BoardTerminal
  ) throws {
    self.client = client
    self.user = user
    self.editor = editor
    // A board draws what it holds; notes, tags and links that arrive later are drawn then.
    client.context.unloadedWasRead = { _ in }
    self.keepTexts = keepTexts
    let batches = NoteBatches(client, user: user)
    self.batches = batches
    requests = RequestCenter { @MainActor [client] question in try await client.answer(question, batches) }
    let (wakes, wake) = AsyncStream.makeStream(of: LoopEvent.self)
    (self.wakes, self.wake) = (wakes, wake)
    driver = try makeTerminal { wake.yield(.events($0)) }
    launcher.registerBoards()
    application = try launcher.launch(configuration, screenSize: driver.size)
    application.clock = { Self.now }
    let screen = BoardScreen(
      application, in: client.context, board: board, scope: client.undoScope(), link: link)
    screen.services.appearance.theme = Theme(depth: depth)
    self.screen = screen
    application.delegate = screen
    application.turnIsNeeded = { [weak self] in self?.askForTurn() }
    try application.finishLaunching()
  }

  /// Runs until the user quits or a signal ends the program, and restores the terminal.
  /// - Returns: the exit code.
  public func run() async -> Int32 {
    follow(client.state)
    client.stateDidChange = { [weak self] state in self?.follow(state) }
    client.silenceDidChange = { [weak self] isSilent in self?.screen?.connection.receive(.silence(isSilent)) }
    client.presenceDidChange = { [weak self] presence in
      self?.screen?.connection.receive(.presence(presence.state, session: presence.session, author: presence.author))
    }
    client.damageDidAppear = { [weak self] damage in self?.screen?.connection.receive(.damage(damage)) }
    client.rightsDidChange = { [weak self] in self?.screen?.connection.receive(.rights) }
    let follower = SyncFollower(client) { [weak self] in self?.followSync() }
    driver.start()
    screen?.open()
    askForTurn()
    var code: Int32 = 0
    for await wake in wakes {
      // Events request a turn, which runs after all events queued by then, so that a burst of moves is one turn.
      if let end = handle(wake) {
        code = end
        break
      }
    }
    setAlarm(nil)
    isEnding = true
    // Before the terminal is restored, because a second signal then ends the program at once.
    let kept = keepUnsent()
    client.stateDidChange = nil
    client.silenceDidChange = nil
    client.presenceDidChange = nil
    client.damageDidAppear = nil
    client.rightsDidChange = nil
    follower.end()
    await withCheckedContinuation { done in driver.end { done.resume() } }
    await sendTheLast()
    if let screen, screen.quitting.isAwaitingSaves || !screen.questions.texts.isEmpty {
      let file = kept ?? keepUnsent()
      loss = UnsentLoss(
        count: screen.quitting.isAwaitingSaves ? screen.saving.unsent.count : screen.questions.texts.count,
        isKept: file != nil || screen.quitting.unsavedTexts.isEmpty, file: file)
    } else if let kept {
      unlink(kept)
    }
    return code
  }

  /// Writes the texts that are not on the server into a file.
  private func keepUnsent() -> String? {
    guard let texts = screen?.quitting.unsavedTexts, !texts.isEmpty else { return nil }
    return keepTexts(texts)
  }

  /// Waits a moment for the pending answers, after the terminal was restored.
  private func sendTheLast() async {
    guard let screen, screen.quitting.isAwaitingSaves, screen.connection.state.isConnected else { return }
    let limit = Self.now + screen.quitting.maximumDelayMilliseconds
    // Each answer still requests a turn. No turn runs any longer, but the request wakes this loop.
    isTurnAsked = false
    setAlarm(limit)
    for await _ in wakes {
      isTurnAsked = false
      // Events are no longer handled.
      guard screen.quitting.isAwaitingSaves, screen.connection.state.isConnected,
        case .wait(let time) = application.nextEvent([], until: limit, at: Self.now)
      else { break }
      setAlarm(time)
    }
    setAlarm(nil)
  }

  // MARK: - Turns

  static var now: Int64 { Int64(DriverLoop.now) }

  /// Runs one turn.
  /// - Returns: the exit code if it was the last one.
  private func turn() -> Int32? {
    let turn = application.runTurn(at: Self.now)
    if let grid = turn.grid { driver.show(grid) }
    setAlarm(turn.wakeTime)
    return turn.exitCode
  }

  /// Sets the time of the next turn, replacing the previous one; nil for none.
  private func setAlarm(_ time: Int64?) {
    alarm?.cancel()
    alarm = time.map { time in
      Task { [weak self] in
        let left = time - Self.now
        if left > 0 { try? await Task.sleep(for: .milliseconds(left)) }
        guard !Task.isCancelled else { return }
        self?.askForTurn()
      }
    }
  }

  /// Requests a turn; requests before it are coalesced.
  private func askForTurn() {
    guard !isTurnAsked else { return }
    isTurnAsked = true
    wake.yield(.turn)
  }

  /// Handles an element of the stream.
  /// - Returns: the exit code when the program has ended.
  private func handle(_ wake: LoopEvent) -> Int32? {
    switch wake {
    case .turn:
      isTurnAsked = false
      return turn()
    case .events(let events):
      for event in events {
        // Runs a turn when the queue is full, so that no key is lost.
        if application.isQueueFull, let code = turn() { return code }
        post(event)
      }
      return nil
    }
  }

  private func post(_ event: DriverEvent) {
    switch event {
    case .terminal(let event): application.post(ApplicationEvent(terminal: event, at: Self.now))
    case .terminate(SIGINT): application.post(ApplicationEvent(.signal(.interrupt), at: Self.now))
    case .terminate: application.post(ApplicationEvent(.signal(.terminate), at: Self.now))
    case .resumed: application.post(ApplicationEvent(.signal(.resume), at: Self.now))
    case .hangup: application.post(ApplicationEvent(.signal(.hangup), at: Self.now))
    }
  }

  private func follow(_ state: GraphClient.State) {
    let now: ConnectionState =
      switch state {
      case .connected: .connected
      case .connecting, .reconnecting: .reconnecting
      // The server's message may be long, so its meaning for the user comes first.
      case .closed: .closed("the server refuses this program: \(client.ending?.message ?? "no reason given")")
      }
    screen?.connection.receive(.state(now, message: screen?.services.status.timer))
    if let screen { screen.connection.isUnprotected = !client.isOffline && client.address.isUnprotected }
    followSync()
  }

  private func followSync() { screen?.connection.receive(.sync(SyncSummary(client))) }

  // MARK: - The link

  private var link: BoardConnection {
    BoardConnection(
      user: user,
      session: { [client] in client.welcome?.session },
      rights: { [client] in client.rights },
      save: { [client] done in client.save(policy: .objectTrump) { done($0) } },
      present: { [client] state in client.showPresence(state) },
      observe: { [requests, weak self] receive, busy in
        let observer = requests.observe {
          receive()
          self?.scheduleMemoryRelease()
        }
        observer.busyDidChange = { busy($0) }
        return BoardChannel(
          send: { observer.send($0) }, cancel: { observer.cancel($0) }, last: { observer.last },
          close: { observer.close() })
      },
      followBatch: { [batches] progress in batches.didProgress = progress },
      read: { [weak self] rows, each, failed in self?.read(rows, each, failed) },
      sendToTerminal: { [driver] bytes in driver.send(bytes) },
      stop: { [driver] in driver.stop() },
      keep: keepTexts,
      editOutside: { [weak self] text, done in self?.edit(text, done) },
      leaveEditor: { [weak self] in self?.leaveEditor?() }, sync: SyncLink(client))
  }

  /// Returns freed memory to the system after a quiet period.
  private func scheduleMemoryRelease() {
    if let memoryTimer { application.cancel(memoryTimer) }
    memoryTimer = application.schedule(at: Self.now + Self.quietMilliseconds) { [weak self] in
      guard let self else { return }
      memoryTimer = nil
      releaseFreedMemory()
    }
  }

  private func read(
    _ rows: ResultsUpdates.Iterator, _ each: @escaping (ResultsUpdate) -> Void, _ failed: @escaping (Refusal) -> Void
  ) {
    Task {
      var rows = rows
      do throws(Refusal) {
        while let update = try await rows.next() { each(update) }
      } catch {
        failed(error)
      }
    }
  }

  private func edit(_ text: String, _ done: @escaping (Result<String, Refusal>) -> Void) {
    guard leaveEditor == nil else { return }
    // The text taken while the program was open; the final text is compared with it.
    var taken: String?
    leaveEditor = { [editor] in
      guard let saved = editor.saved(), !UTF8Comparison.equal(saved, taken ?? text) else { return }
      taken = saved
      done(.success(saved))
    }
    Task {
      await withCheckedContinuation { free in driver.suspend { free.resume() } }
      let result: Result<String, Refusal>
      do {
        result = .success(try await editor.edit(text))
      } catch {
        result = .failure(error as? Refusal ?? Refusal(.unavailable, "\(error)"))
      }
      driver.resume()
      leaveEditor = nil
      done(result)
      // After the last turn nothing is sent, so the editor's file is kept.
      if case .success(let text) = result, !isEnding || taken.map({ UTF8Comparison.equal(text, $0) }) == true {
        editor.discard()
      }
    }
  }
}
