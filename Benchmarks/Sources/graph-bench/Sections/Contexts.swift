extension Bench {
  /// Measures a durable commit of a background context beside one of a client on the main actor, over the Unix-domain
  /// socket. Only one of them commits at a time.
  func measureContexts() throws {
    var (main, background) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      let daemon = try Daemon(self, data: place("contexts"))
      defer { daemon.stop() }
      let process = try ServerProcess(mode: ["context-client", "\(daemon.unix)", "\(seconds / 5)"])
      let words = try process.line().split(separator: " ").compactMap { Double($0) }
      process.wait()
      guard words.count == 2 else { throw BenchmarkError(description: "the client library's writer fails") }
      main.append(words[0])
      background.append(words[1])
    }
    Figure(
      name: "a commit of a background context", unit: "µs", ours: median(background) * 1e6, limit: median(main) * 1e6,
      aim: .atMost(1.1)
    ).report()
  }
}
