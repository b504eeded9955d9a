import GraphModel
import GraphWire

extension Bench {
  private static let followedNotes = 1_000
  private static let followedCommits = 10_000

  /// Measures what a client needs to follow 1,000 notes: through `live`, beside an observer of its context.
  func measureFollowing() throws {
    var times = [LiveFollower.Way: [Double]]()
    for _ in 0..<Self.rounds {
      for way in LiveFollower.Way.allCases { times[way, default: []].append(try followingTime(way)) }
    }
    func perCommit(_ way: LiveFollower.Way) -> Double { median(times[way, default: []]) / Double(Self.followedCommits) }
    Figure(
      name: "1,000 objects through live, processor time of a commit", unit: "µs", ours: perCommit(.live) * 1e6,
      limit: perCommit(.observer) * 1e6, aim: .atMost(1.1)
    ).report()
  }

  /// Returns the processor time of a follower for all commits, in seconds.
  private func followingTime(_ way: LiveFollower.Way) throws -> Double {
    let data = place("following")
    let daemon = try Daemon(self, data: data)
    defer {
      daemon.stop()
      remove(data)
    }
    let writer = try WireClient(daemon.unix)
    var mover = try NoteMover(writer, making: Self.followedNotes, on: try writer.insertBoard())
    let follower = try ServerProcess(
      mode: ["live-follower", "\(daemon.unix)", way.rawValue, "\(Self.followedCommits)"])
    guard try follower.line() == "\(Self.followedNotes)" else {
      throw BenchmarkError(description: "the follower does not have all notes")
    }
    for _ in 0..<Self.followedCommits { try mover.move() }
    let seconds = Double(try follower.line())
    follower.wait()
    guard let seconds else { throw BenchmarkError(description: "the follower reports no time") }
    return seconds
  }
}
