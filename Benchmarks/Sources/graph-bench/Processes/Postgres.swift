import Foundation
import GraphWire

/// PostgreSQL 15 for comparison: a private cluster with Debian's settings, and therefore fsync on, over its
/// Unix-domain socket.
final class PostgresServer: PeerServer {
  private let process: ServerProcess
  private let address: ServerAddress

  private static let programs = "/usr/lib/postgresql/15/bin"
  /// PostgreSQL refuses to run as root; Debian's package creates this user.
  private static let user = "postgres"
  private static let port = 5_432

  /// The equivalent of the daemon's tables: notes with their indexes, and the history. There is no full-text index and
  /// no foreign key, whose check would lock the row of the board that all clients write to.
  private static let tables = """
    CREATE TABLE note (
      id uuid PRIMARY KEY,
      number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      board bigint NOT NULL,
      text text NOT NULL,
      color text NOT NULL DEFAULT 'yellow',
      x double precision NOT NULL,
      y double precision NOT NULL,
      width double precision NOT NULL DEFAULT 200,
      height double precision NOT NULL DEFAULT 200,
      created timestamptz NOT NULL DEFAULT now(),
      updated timestamptz NOT NULL DEFAULT now());
    CREATE INDEX ON note (board);
    CREATE TABLE change (
      revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      time timestamptz NOT NULL DEFAULT now(),
      note uuid NOT NULL,
      kind text NOT NULL)
    """

  /// Nil if PostgreSQL 15 is not installed.
  init?(_ bench: Bench) throws {
    guard access(Self.programs + "/postgres", X_OK) == 0 else { return nil }
    let directory = bench.place("postgres")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let data = directory + "/data"
    let asUser = try Self.becomingUser(of: directory)
    let cluster = try Self.start(
      "initdb", ["-D", data, "-U", PostgresClient.role, "-A", "trust", "--no-locale", "-E", "UTF8"], asUser)
    cluster.wait()
    address = .unix(path: "\(directory)/.s.PGSQL.\(Self.port)")
    process = try Self.start(
      "postgres",
      [
        "-D", data, "-p", "\(Self.port)", "-c", "listen_addresses=", "-c", "unix_socket_directories=\(directory)",
        // It would log every client that the end of a measurement cuts off.
        "-c", "log_min_messages=panic",
      ], asUser)
    try retry { try Self.checkIsReady(data) }
    try PostgresClient(address, isPrepared: false).run(Self.tables)
  }

  /// Returns the command that the programs must be run by: that of root becomes the user, who gets the directory.
  private static func becomingUser(of directory: String) throws -> [String] {
    guard geteuid() == 0 else { return [] }
    guard let entry = getpwnam(user), chown(directory, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
      throw BenchmarkError(description: "\(directory) can't be given to the user \(user)")
    }
    // A change of the user clears the signal that ends a child with its parent; setpriv sets it again.
    return [
      "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--pdeathsig=QUIT",
    ]
  }

  private static func start(_ program: String, _ arguments: [String], _ asUser: [String]) throws -> ServerProcess {
    let words = asUser + ["\(programs)/\(program)"] + arguments
    return try ServerProcess(words[0], Array(words.dropFirst()), readsOutput: false)
  }

  /// Throws while the server recovers or starts. A connection would be refused, with a message in the server's log.
  private static func checkIsReady(_ data: String) throws {
    guard ProcessFigures.text(data + "/postmaster.pid").contains("ready") else {
      throw BenchmarkError(description: "PostgreSQL does not start in \(data)")
    }
  }

  func client() throws -> any PeerClient { try postgresClient() }

  func postgresClient() throws -> PostgresClient { try PostgresClient(address) }

  /// Ends it with SIGINT, because SIGTERM would wait for the clients to disconnect.
  func stop() { process.stop(with: SIGINT) }
}
