import Glibc
import FreedMemory
import GraphClient
import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// `stickies open`, put together: the terminal's driver, the client, and the application between them. Keys come from the
/// driver's thread through a stream; commits and the connection are heard on the main actor; each of them ends in one turn
/// of the application, whose grid goes to the driver.
@MainActor
public final class BoardSession {
  /// What happens to the loop of turns.
  private enum Wake: Sendable {
    case events([DriverEvent])
    /// Something changed here, or a time has come.
    case turn
  }

  private let client: GraphClient
  private let driver: any BoardTerminal
  private let application: Application
  private let wakes: AsyncStream<Wake>
  private let wake: AsyncStream<Wake>.Continuation
  private let user: String
  /// What views ask in the background; the answers come back to this actor.
  private let requests: RequestCenter<BoardQuestion, BoardAnswer>
  private let batches: NoteBatches
  private let editor: OutsideEditor
  /// Takes what the editor outside has saved by now, while one is open.
  private var leaveEditor: (() -> Void)?
  /// The last turn is over.
  private var isEnding = false
  private let keepTexts: ([String]) -> String?
  /// What was lost with the end, after `run`.
  public private(set) var loss: Loss?

  /// Changes that did not reach the server, though nobody chose to lose them.
  public struct Loss: Sendable, Hashable {
    /// How many objects they were of.
    public let count: Int
    /// False when texts were among them that could not be kept.
    public let isKept: Bool
    /// Where the texts among them are; nil when there were none, or no file could be written.
    public let file: String?
  }

  private(set) var screen: BoardScreen?
  private var alarm: Task<Void, Never>?
  private var memoryTimer: TimerID?
  /// When so long nothing was answered, in milliseconds, freed memory goes back to the system.
  private static let quietMilliseconds: Int64 = 1_000
  private var isTurnAsked = false

  /// A session on the terminal of this process.
  /// - Parameters:
  ///   - configuration: which class and interface it is, by `ApplicationConfiguration.board`.
  ///   - launcher: the program's only one; it refuses a second session while this one runs.
  ///   - editor: another program, which has the terminal while it is open.
  ///   - keepTexts: writes texts that no server took into a file, and says which.
  /// - Throws: `TerminalError` when there is no terminal, `ApplicationError` when a name is not known or another session
  ///   runs.
  public convenience init(
    _ client: GraphClient, board: Board, depth: ColorDepth, configuration: ApplicationConfiguration,
    launcher: ApplicationLauncher, editor: OutsideEditor, keepTexts: @escaping ([String]) -> String?
  ) throws {
    try self.init(
      client, board: board, depth: depth, user: ProcessEnvironment.current.author, configuration: configuration,
      launcher: launcher, editor: editor, keepTexts: keepTexts
    ) { sink in
      try TerminalDriver(depth: depth, sink: sink)
    }
  }

  /// A session on any terminal.
  /// - Parameters:
  ///   - user: the name that the client commits under.
  ///   - makeTerminal: given where the terminal's events go, from any thread.
  init(
    _ client: GraphClient, board: Board, depth: ColorDepth, user: String,
    configuration: ApplicationConfiguration, launcher: ApplicationLauncher, editor: OutsideEditor,
    keepTexts: @escaping ([String]) -> String?,
    makeTerminal: (@escaping @Sendable ([DriverEvent]) -> Void) throws -> any BoardTerminal
  ) throws {
    self.client = client
    self.user = user
    self.editor = editor
    self.keepTexts = keepTexts
    let batches = NoteBatches(client, user: user)
    self.batches = batches
    requests = RequestCenter { [client] question in try await client.answer(question, batches) }
    let (wakes, wake) = AsyncStream.makeStream(of: Wake.self)
    (self.wakes, self.wake) = (wakes, wake)
    driver = try makeTerminal { wake.yield(.events($0)) }
    launcher.registerBoards()
    application = try launcher.launch(configuration, screenSize: driver.size)
    application.clock = { Self.now }
    let screen = BoardScreen(
      application, in: client.context, board: board, scope: client.undoScope(), link: link)
    screen.theme = Theme(depth: depth)
    self.screen = screen
    application.delegate = screen
    application.turnIsNeeded = { [weak self] in self?.askForTurn() }
    try application.finishLaunching()
  }

  /// Runs until the person leaves, or the program is asked to end. The terminal is as it was afterwards.
  /// - Returns: the exit code.
  public func run() async -> Int32 {
    follow(client.state)
    client.stateDidChange = { [weak self] state in self?.follow(state) }
    client.silenceDidChange = { [weak self] isSilent in self?.screen?.hear(.silence(isSilent)) }
    client.presenceDidChange = { [weak self] presence in
      self?.screen?.hear(.presence(presence.state, session: presence.session, author: presence.author))
    }
    driver.start()
    screen?.open()
    askForTurn()
    var code: Int32 = 0
    for await wake in wakes {
      // What has come asks for a turn, which is behind all that had come by then: a burst of moves is one turn.
      if let end = take(wake) {
        code = end
        break
      }
    }
    setAlarm(nil)
    isEnding = true
    // Before the terminal is given back: from then on a second signal ends the program at once.
    let kept = keepUnsent()
    client.stateDidChange = nil
    client.silenceDidChange = nil
    client.presenceDidChange = nil
    await withCheckedContinuation { done in driver.end { done.resume() } }
    await sendTheLast()
    if let screen, screen.isAwaitingSaves || !screen.openTexts.isEmpty {
      let file = kept ?? keepUnsent()
      loss = Loss(
        count: screen.isAwaitingSaves ? screen.unsent.count : screen.openTexts.count,
        isKept: file != nil || screen.unsavedTexts.isEmpty, file: file)
    } else if let kept {
      unlink(kept)
    }
    return code
  }

  /// Writes the texts that are not on the server into a file.
  private func keepUnsent() -> String? {
    let texts = screen?.unsavedTexts ?? []
    return texts.isEmpty ? nil : keepTexts(texts)
  }

  /// The terminal is given back; what is on its way gets a moment to arrive.
  private func sendTheLast() async {
    guard let screen, screen.isAwaitingSaves, screen.linkState.isConnected else { return }
    let limit = Self.now + screen.patienceMilliseconds
    // Each answer asks for a turn, as ever; there is none, but it wakes this.
    isTurnAsked = false
    setAlarm(limit)
    for await _ in wakes {
      isTurnAsked = false
      // No event counts any more.
      guard screen.isAwaitingSaves, screen.linkState.isConnected,
        case .wait(let time) = application.nextEvent([], until: limit, at: Self.now)
      else { break }
      setAlarm(time)
    }
    setAlarm(nil)
  }

  // MARK: - Turns

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// One turn; the exit code when it was the last one.
  private func turn() -> Int32? {
    let turn = application.runTurn(at: Self.now)
    if let grid = turn.grid { driver.show(grid) }
    setAlarm(turn.wakeTime)
    return turn.exitCode
  }

  /// Asks for a turn at a time, and at no other one that was set before; nil for none.
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

  /// A turn comes, one for all who ask before it.
  private func askForTurn() {
    guard !isTurnAsked else { return }
    isTurnAsked = true
    wake.yield(.turn)
  }

  /// The exit code when the program has ended.
  private func take(_ wake: Wake) -> Int32? {
    switch wake {
    case .turn:
      isTurnAsked = false
      return turn()
    case .events(let events):
      for event in events {
        // No key is lost, however many come before the turn that they asked for.
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
      // What the server says may be long: what it means for whoever reads it comes first.
      case .closed: .closed("the server refuses this program: \(client.ending?.message ?? "it says no more")")
      }
    screen?.hear(.state(now, message: screen?.messageTimer))
  }

  // MARK: - The link

  private var link: BoardLink {
    BoardLink(
      user: user,
      session: { [client] in client.welcome?.session },
      perform: { [client] in client.perform() },
      save: { [client] done in client.save(policy: .objectTrump) { done($0) } },
      present: { [client] state in client.showPresence(state) },
      observe: { [requests, weak self] hear, busy in
        let observer = requests.observe {
          hear()
          self?.giveMemoryBackSoon()
        }
        observer.busyDidChange = { busy($0) }
        return BoardChannel(
          send: { observer.send($0) }, cancel: { observer.cancel($0) }, last: { observer.last },
          close: { observer.close() })
      },
      followBatch: { [batches] told in batches.didProgress = told },
      read: { [weak self] rows, each, failed in self?.read(rows, each, failed) },
      sendToTerminal: { [driver] bytes in driver.send(bytes) },
      stop: { [driver] in driver.stop() },
      keep: keepTexts,
      editOutside: { [weak self] text, done in self?.edit(text, done) },
      leaveEditor: { [weak self] in self?.leaveEditor?() })
  }

  /// Once nothing is answered any more for a while.
  private func giveMemoryBackSoon() {
    if let memoryTimer { application.cancel(memoryTimer) }
    memoryTimer = application.schedule(at: Self.now + Self.quietMilliseconds) { [weak self] in
      self?.memoryTimer = nil
      FreedMemory.giveBack()
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
    // What was taken while the program was still open: what it ends with is compared with that.
    var taken: String?
    leaveEditor = { [editor] in
      guard let saved = editor.saved(), !Bytes.equal(saved, taken ?? text) else { return }
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
      // At the end nothing that comes now is sent any more.
      if case .success(let text) = result, !isEnding || taken.map({ Bytes.equal(text, $0) }) ?? false {
        editor.discard()
      }
    }
  }
}

extension GraphClient {
  var noteEntity: Entity {
    get throws {
      guard let entity = context.model.entity(named: Note.entityName) else {
        throw Refusal(.malformed, "the model has no Note")
      }
      return entity
    }
  }

  fileprivate func answer(_ question: BoardQuestion, _ batches: NoteBatches) async throws -> BoardAnswer {
    switch question {
    case .reach: .reach(try await reach())
    case .past(let board): .past(try await past(board))
    case .count(let predicate): .count(try await count(of: noteEntity, where: predicate))
    case .find(let search): .notes(try await find(search))
    case .links(let predicate, let limit): .links(try await links(where: predicate, limit: limit))
    case .identify(let predicate): .ids(try await identifiers(of: noteEntity, where: predicate))
    case .step(let isRedo):
      .stepped(isWhole: try await (isRedo ? redo() : undo()).committed.conflicts.isEmpty)
    case .change(let batch): .changed(try await batches.perform(batch))
    }
  }

  private func find(_ search: NoteSearch) async throws -> [ObjectImage] {
    var notes = [ObjectImage]()
    let stream = images(
      of: try noteEntity, where: search.predicate, sort: search.sort, limit: search.limit, after: search.after)
    for try await chunk in stream { notes += chunk }
    return notes
  }

  private func links(where predicate: GraphPredicate, limit: Int) async throws -> [ObjectImage] {
    guard let entity = context.model.entity(named: Link.entityName) else {
      throw Refusal(.malformed, "the model has no Link")
    }
    var links = [ObjectImage]()
    for try await chunk in images(of: entity, where: predicate, limit: limit) { links += chunk }
    return links
  }

  /// From the first commit, or from the oldest state that was not pruned.
  private func reach() async throws -> ClosedRange<Revision> {
    let status = try await status()
    let first = max(1, status.oldest)
    return first...max(first, status.head.revision)
  }

  /// A handful of requests, however many notes there were.
  private func past(_ wish: PastBoard) async throws -> PastContents {
    let past = graph(at: wish.revision)
    var found = try await notes(wish, in: past)
    try await addLinks(to: &found, wish, in: past)
    if let board = try await past.object(Board.self, wish.board) {
      (found.name, found.color) = (board.name, PaperColor(name: board.color.rawValue))
    }
    // Of the oldest state the commit may be gone.
    if let commit = try? await log(after: wish.revision - 1, through: wish.revision, limit: 1, changes: 0).first {
      found.commit = PastCommit(revision: commit.revision, time: commit.time, author: commit.author)
    }
    found.reach = try await reach()
    return found
  }

  /// Of a board with too many notes the uppermost of a region, as it is shown in the present.
  private func notes(_ wish: PastBoard, in past: PastGraph) async throws -> PastContents {
    let all = BoardPage.notes(of: wish.board, in: context.model)
    if !wish.isLarge {
      let notes = try await past.fetch(
        Note.self, where: all.predicate, sort: all.sort, limit: BoardPage.maximumNotes + 1)
      if notes.count <= BoardPage.maximumNotes { return try await contents(notes, in: past) }
    }
    let notes = try await past.fetch(
      Note.self, where: .all([all.predicate, wish.region.notes]), sort: [SortKey](Note.self, [\.z.descending]),
      limit: BoardPart.maximumNotes)
    var found = try await contents(notes, in: past)
    found.region = wish.region
    return found
  }

  private func contents(_ notes: [Note], in past: PastGraph) async throws -> PastContents {
    try await past.load([\.tags], of: notes)
    return PastContents(notes: notes.map { PastNote(id: $0.id, values: NoteValues($0)) })
  }

  private func addLinks(to found: inout PastContents, _ wish: PastBoard, in past: PastGraph) async throws {
    let all = BoardPage.links(of: wish.board, in: context.model).predicate
    let links = try await past.fetch(
      Link.self, where: found.region.map { .all([all, $0.links]) } ?? all, limit: BoardPage.maximumLinks + 1)
    guard links.count <= BoardPage.maximumLinks else {
      return found.linksAreMissing = BoardPage.linksAreMissing(Replica.tooMany(BoardPage.maximumLinks))
    }
    found.links = links.compactMap { link in
      guard let from = link.from?.id, let to = link.to?.id else { return nil }
      return PastLink(from: from, to: to, label: link.label)
    }
  }
}
