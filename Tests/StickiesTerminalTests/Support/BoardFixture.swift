import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import StickiesKit
import TerminalApplication
import TerminalCells
import Testing

@testable import StickiesTerminal

/// A real daemon with one board, and users who have the board open, each with a client and a grid.
@MainActor
final class BoardFixture {
  let home: TemporaryDirectory
  let address: ServerAddress
  private var daemon = Process()
  /// Another client that changes the graph, as the shell does.
  private(set) var other: GraphClient
  private var clients = [GraphClient]()
  /// The text that the external editor returns.
  var outside: (String) async throws -> String = { $0 + " (edited outside)" }
  /// The text that the external editor has saved so far.
  var savedOutside: String?
  /// The number of times that the file of the editor was discarded.
  private(set) var discards = 0

  init(boards: [String] = ["Work"]) async throws {
    home = try TemporaryDirectory()
    address = .unix(path: home.path + "/socket")
    daemon = try Self.start(home.path, address)
    other = try await Self.connect(address, "ben@test")
    for name in boards {
      let board = Board(in: other.context)
      board.name = name
      try await other.save()
    }
  }

  private static var program: URL {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let beside = folder.appendingPathComponent("stickiesd")
    return FileManager.default.isExecutableFile(atPath: beside.path)
      ? beside : URL(fileURLWithPath: Fixtures.root + "/.build/debug/stickiesd")
  }

  private static func start(
    _ home: String, _ address: ServerAddress, data: String = "data", more arguments: [String] = []
  ) throws -> Process {
    let daemon = Process()
    daemon.executableURL = program
    daemon.arguments = ["--data", "\(home)/\(data)", "--listen", address.description] + arguments
    daemon.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": home]) { $1 }
    let output = Pipe()
    daemon.standardOutput = output
    daemon.standardError = FileHandle.nullDevice
    daemon.standardInput = FileHandle.nullDevice
    try daemon.run()
    // The daemon prints a line when it listens.
    var text = ""
    while !text.contains("listening ") {
      let bytes = output.fileHandleForReading.availableData
      try #require(!bytes.isEmpty, "the daemon ended")
      text += String(decoding: bytes, as: UTF8.self)
    }
    return daemon
  }

  static func connect(
    _ address: ServerAddress, _ author: String, token: String? = nil
  ) async throws -> GraphClient {
    var options = GraphClient.Options(author: author)
    options.lastPauseMilliseconds = 100
    if let token { options.credentials = .token(token) }
    return try await GraphClient.connect(
      to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
  }

  /// Opens the first board for a user.
  /// - Parameters:
  ///   - patience: the time that leaving waits before it asks, in milliseconds; nil for the usual one.
  ///   - pause: the time without typing before a question takes answers, in milliseconds; nil for the usual one.
  ///   - launcher: the launcher of the user's program; each has its own.
  ///   - proxy: the proxy before the daemon; nil for none.
  ///   - token: the token of a user with an account; nil for a program of the daemon's own user.
  func open(
    _ author: String = "ann@test", size: Size = Size(width: 80, height: 24), patience: Int64? = nil,
    pause: Int64? = nil, configuration: ApplicationConfiguration = .board(),
    launcher: ApplicationLauncher = ApplicationLauncher(), through proxy: CuttingProxy? = nil, token: String? = nil
  ) async throws -> TestUser {
    let client = try await Self.connect(proxy?.address ?? address, author, token: token)
    let (session, terminal) = try await session(client, author, size, configuration, launcher)
    if let patience { session.screen?.quitting.maximumDelayMilliseconds = patience }
    if let pause { session.screen?.questions.pauseMilliseconds = pause }
    let end = Task { await session.run() }
    await terminal.expects("connected")
    return TestUser(terminal: terminal, client: client, session: session, end: end)
  }

  /// Opens the first board without ever running a turn, for tests of what happens between two turns.
  func openWithoutTurns() async throws -> (session: BoardSession, client: GraphClient) {
    let client = try await Self.connect(address, "ann@test")
    let (session, _) = try await session(
      client, "ann@test", Size(width: 80, height: 24), .board(), ApplicationLauncher())
    session.screen?.open()
    return (session, client)
  }

  func session(
    _ client: GraphClient, _ author: String, _ size: Size, _ configuration: ApplicationConfiguration,
    _ launcher: ApplicationLauncher
  ) async throws -> (BoardSession, GridTerminal) {
    clients.append(client)
    let board = try #require(try await client.fetch(Board.self, sort: [\.created.ascending]).first)
    var made: GridTerminal?
    let session = try BoardSession(
      client, board: board, depth: .direct, user: author, configuration: configuration, launcher: launcher,
      editor: ExternalEditor(
        edit: { [weak self] in try await self?.outside($0) ?? $0 }, saved: { [weak self] in self?.savedOutside },
        discard: { [weak self] in self?.discards += 1 }),
      keepTexts: { [home] texts in
        let file = home.path + "/unsent"
        return (try? texts.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)) == nil
          ? nil : file
      },
      makeTerminal: { sink in
        let terminal = GridTerminal(size, sink: sink)
        made = terminal
        return terminal
      })
    return (session, try #require(made))
  }

  /// A user who has changed a note, before a frozen daemon.
  func unanswered(patience: Int64) async throws -> TestUser {
    _ = try await note("first")
    let seat = try await open(patience: patience)
    await seat.terminal.expects("first")
    freeze()
    seat.terminal.press(.tab)
    seat.terminal.types("c")
    await seat.terminal.expects("1 change")
    return seat
  }

  /// Runs a command of `stickiesd` on the daemon's data.
  /// - Returns: its output.
  @discardableResult
  func stickiesd(_ arguments: String...) throws -> String {
    let command = Process()
    command.executableURL = Self.program
    command.arguments = arguments + ["--data", home.path + "/data"]
    command.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": home.path]) { $1 }
    let output = Pipe()
    command.standardOutput = output
    command.standardInput = FileHandle.nullDevice
    try command.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    command.waitUntilExit()
    try #require(command.terminationStatus == 0, "stickiesd \(arguments)")
    return text
  }

  /// Makes a user with a role on some boards.
  /// - Returns: a token of the user.
  func user(_ name: String, _ role: String, on boards: [String]) throws -> String {
    try stickiesd("user", "add", name, "--role", "none")
    for board in boards { try stickiesd("grant", name, role, "--on", "Board:\(board)") }
    return try stickiesd("token", "create", name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A proxy between a user and the daemon.
  func proxy() throws -> CuttingProxy { try CuttingProxy(to: address, cutAfter: nil) }

  /// After a restart, other clients reconnect at a later moment.
  private func awaitOther() async {
    guard other.state != .connected else { return }
    await withCheckedContinuation { back in
      other.stateDidChange = { [weak other] state in
        guard state == .connected || state == .closed else { return }
        other?.stateDidChange = nil
        back.resume()
      }
    }
  }

  /// A note of another client.
  func note(_ text: String, x: Double = 16, y: Double = 32, color: NoteColor = .yellow) async throws -> Note {
    await awaitOther()
    let board = try #require(try await other.fetch(Board.self, sort: [\.created.ascending]).first)
    let note = Note(in: other.context)
    (note.text, note.x, note.y, note.color, note.board) = (text, x, y, color, board)
    try await other.save()
    return note
  }

  /// Notes from elsewhere in a row, each with its number as text: n0, n1, …
  /// - Parameter step: points from one to the next, 30 columns if not given.
  func row(of numbers: Range<Int>, step: Double = 240) async throws {
    let board = try #require(try await other.fetch(Board.self, sort: [\.created.ascending]).first)
    let entity = try #require(StickiesModel.model.entity(named: "Note"))
    let properties = try ["text", "x", "y", "board"].map { try #require(entity.property(named: $0)) }
    let rows = numbers.map { number -> [Value] in
      [.string("n\(number)"), .double(step * Double(number)), .double(32), .object(board.id)]
    }
    _ = try await other.batchInsert(entity, properties, rows: rows)
  }

  /// The kept texts that the server did not accept.
  var unsentTexts: String? { try? String(contentsOfFile: home.path + "/unsent", encoding: .utf8) }

  /// All notes as they are stored.
  func stored() async throws -> [Note] {
    await awaitOther()
    return try await other.fetch(Note.self, sort: [\.number.ascending])
  }

  func kill() {
    Foundation.kill(daemon.processIdentifier, SIGKILL)
    daemon.waitUntilExit()
  }

  /// Stops the daemon's answers until it thaws; its connections stay.
  func freeze() {
    Foundation.kill(daemon.processIdentifier, SIGSTOP)
    // Until its first thread has taken the signal, the other threads continue.
    var stopped = siginfo_t()
    while waitid(P_PID, id_t(daemon.processIdentifier), &stopped, WSTOPPED) == -1, errno == EINTR {}
  }

  func thaw() { Foundation.kill(daemon.processIdentifier, SIGCONT) }

  /// Between `kill` and `restart`: changes the graph by another address that other clients do not know.
  func whileAway(_ body: @MainActor (GraphClient) async throws -> Void) async throws {
    let elsewhere = ServerAddress.unix(path: home.path + "/elsewhere")
    daemon = try Self.start(home.path, elsewhere)
    let client = try await Self.connect(elsewhere, "carl@test")
    try await body(client)
    await client.close()
    kill()
  }

  /// Between `kill` and `restart`: keeps a copy of the store.
  func keepStore() throws { try FileManager.default.copyItem(atPath: home.path + "/data", toPath: home.path + "/kept") }

  /// Between `kill` and `restart`: restores the copy of the store.
  func bringBackStore() throws {
    try FileManager.default.removeItem(atPath: home.path + "/data")
    try FileManager.default.moveItem(atPath: home.path + "/kept", toPath: home.path + "/data")
  }

  func restart() throws { daemon = try Self.start(home.path, address) }

  /// After `kill`: a server of another model has the address.
  func restartWithAnotherModel() throws {
    daemon = try Self.start(
      home.path, address, data: "company", more: ["--schema", Fixtures.root + "/Schema/Company"])
  }

  func close() async {
    for client in clients { await client.close() }
    await other.close()
    kill()
  }
}

/// A user at a terminal.
@MainActor
struct TestUser {
  let terminal: GridTerminal
  let client: GraphClient
  /// The program at the terminal, for state that no grid shows.
  let session: BoardSession
  let end: Task<Int32, Never>
}
