import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  // The limits, one client and one store run in processes of their own, which this program starts from its own
  // executable.
  switch arguments.first {
  case "nio-fanout-server": try NIOFanOutServer.run()
  case "echo-server" where arguments.count == 2: try EchoServer.run(path: arguments[1])
  case "http-server" where arguments.count == 2: try await BareHTTPServer.run(answer: arguments[1])
  case "snapshot-client" where arguments.count == 2: try await SnapshotClient.run(address: arguments[1])
  case "live-follower" where arguments.count == 4:
    guard let way = LiveFollower.Way(rawValue: arguments[2]), let commits = Int(arguments[3]) else {
      throw BenchmarkError(description: "usage: live-follower ADDRESS live|observer COMMITS")
    }
    try await LiveFollower.run(address: arguments[1], way, commits: commits)
  case "context-client" where arguments.count == 3:
    try await ContextClient.run(address: arguments[1], seconds: Double(arguments[2]) ?? 1)
  case "commit-clients" where arguments.count == 6:
    try await CommitClients.run(
      address: arguments[1], unix: arguments[2], credential: arguments[3], pin: arguments[4],
      seconds: Double(arguments[5]) ?? 1)
  case "transaction" where arguments.count == 4: try OneTransaction.run(Array(arguments.dropFirst()))
  default: try Bench(Bench.Options(arguments)).run()
  }
} catch {
  print("failed: \(error)")
  exit(1)
}
