import Foundation
import GraphModel
import GraphWire

/// `graph-bench DAEMON`: our figures, the limit's and Redis's in one run, as ratios. Medians of three.
func runBenchmarks() throws {
  guard CommandLine.arguments.count >= 2 else {
    print("usage: graph-bench PATH-TO-STICKIESD")
    exit(64)
  }
  let daemonPath = CommandLine.arguments[1]
  let seconds = CommandLine.arguments.count > 2 ? Double(CommandLine.arguments[2]) ?? 2 : 2
  let text = "Buy milk and bread on the way home, and call Ann about the garden party on Saturday"

  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("graph-bench-\(getpid())").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let socketPath = folder + "/socket"

  func startDaemon(_ data: String) throws -> ServerProcess {
    try ServerProcess(daemonPath, ["--data", data, "--listen", "unix://\(socketPath)", "--log-level", "error"]) {
      (try? Socket(unix: socketPath)) != nil
    }
  }

  func startRedis(_ directory: String) throws -> ServerProcess? {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/redis-server") else { return nil }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    return try ServerProcess(
      "/usr/bin/redis-server",
      ["--port", "7999", "--dir", directory, "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    ) { (try? Socket(tcp: 7999)) != nil }
  }

  struct Shape {
    let name: String
    let clients: Int
    let notes: Int
    let target: Double
  }

  let shapes = [
    Shape(name: "one client, one note a commit", clients: 1, notes: 1, target: 0.75),
    Shape(name: "16 clients, one note a commit", clients: 16, notes: 1, target: 0.5),
    Shape(name: "one client, 100 notes a commit", clients: 1, notes: 100, target: 0.5),
  ]

  print("notes a second, durable; medians of 3 runs of \(seconds) s")
  print("shape                             ours    raw SQLite   ratio (aim)     Redis   ratio")
  for shape in shapes {
    var (ours, raw, redis) = ([Double](), [Double](), [Double]())
    for round in 0..<3 {
      let data = folder + "/data-\(shape.clients)-\(shape.notes)-\(round)"
      do {
        let daemon = try startDaemon(data)
        let board = try WireClient(socketPath).insertBoard("B")
        ours.append(
          try rate(for: seconds, threads: shape.clients) { _ in
            let client = try WireClient(socketPath)
            return {
              try client.commit(try (1...shape.notes).map { try client.note(UInt64($0), text: text, board: board) })
            }
          } * Double(shape.notes))
        _ = daemon
      }
      // The limit starts from a store with the same content.
      let rawData = data + "-raw"
      do {
        let daemon = try startDaemon(rawData)
        let client = try WireClient(socketPath)
        let board = try client.insertBoard("B")
        try client.commit([try client.note(1, text: text, board: board)])
        _ = daemon
      }
      let database = try RawSQLite(rawData + "/graph.sqlite")
      raw.append(
        rate(for: seconds, threads: 1) { _ in
          { try database.transaction(commits: shape.clients, notesEach: shape.notes, text: text) }
        } * Double(shape.notes * shape.clients))
      if let server = try startRedis(data + "-redis") {
        redis.append(
          try rate(for: seconds, threads: shape.clients) { _ in
            let client = try RedisClient(port: 7999)
            return { try client.write(notes: shape.notes, text: text) }
          } * Double(shape.notes))
        _ = server
      }
    }
    let name = shape.name + String(repeating: " ", count: 32 - shape.name.count)
    func column(_ value: Double) -> String {
      let digits = String(Int(value))
      return String(repeating: " ", count: max(0, 10 - digits.count)) + digits
    }
    func ratio(_ value: Double) -> String { String(Double(Int(value * 100)) / 100) }
    let peer =
      redis.isEmpty ? "  (no redis-server)" : "\(column(median(redis)))    \(ratio(median(ours) / median(redis)))"
    print(
      "\(name)\(column(median(ours)))  \(column(median(raw)))    \(ratio(median(ours) / median(raw))) (\(shape.target))\(peer)"
    )
  }

  // A change seen by another client.
  do {
    let daemon = try startDaemon(folder + "/data-latency")
    let writer = try WireClient(socketPath)
    let board = try writer.insertBoard("B")
    let watcher = try WireClient(socketPath)
    try watcher.send(.subscribe(Subscribe(entity: watcher.entities["Note"]?.number ?? 0)))
    while true { if case .advance = try watcher.next().body { break } }
    var (times, commits) = ([Double](), [Double]())
    for _ in 0..<2_000 {
      let start = now()
      try writer.commit([try writer.note(1, text: text, board: board)])
      commits.append(now() - start)
      while true { if case .delta = try watcher.next().body { break } }
      times.append(now() - start)
    }
    print(
      "seen by another client: median \(Int(median(times) * 1e6)) µs; the commit's own reply \(Int(median(commits) * 1e6)) µs"
    )
    _ = daemon
  }
}
