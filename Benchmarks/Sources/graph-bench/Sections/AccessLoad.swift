import Foundation
import GraphModel
import GraphWire

/// Revocation, and what one user's load means for the others.
extension Bench {
  /// The sessions that end with a token.
  private static let revoked = 1_000

  /// The time from the revocation of a token until a thousand sessions have ended, in milliseconds.
  func measureRevocation() throws {
    var times = [Double]()
    let team = try TeamDaemon(self)
    defer { team.stop() }
    for round in 0..<Self.rounds {
      let token = try team.addUser("user \(round)", role: .reader)
      let clients = try (0..<Self.revoked).map { _ in
        let client = try team.client(token)
        try client.subscribe("Note")
        return client
      }
      times.append(
        try timed {
          try team.revoke(token)
          for client in clients { client.waitForEnd() }
        })
    }
    Figure(
      name: "a revoked token ends 1,000 sessions", unit: "ms", ours: median(times) * 1e3, limit: 1_000, aim: .atMost(1)
    ).report()
  }

  /// The times of commits of one client, one after the other.
  private func commitTimes(_ mover: inout NoteMover, while isRunning: () -> Bool) throws -> [Double] {
    var times = [Double]()
    while isRunning() { times.append(try timed { try mover.move() }) }
    return times
  }

  private func commitTimes(_ mover: inout NoteMover) throws -> [Double] {
    let end = now() + seconds
    return try commitTimes(&mover) { now() < end }
  }

  /// Commits of a user while two administrators change the roles of connected users a thousand times.
  func measureChangedGrants() throws {
    let team = try TeamDaemon(self)
    defer { team.stop() }
    let board = try WireClient(team.daemon.unix).insertBoard()
    let names = (0..<10).map { "user \($0)" }
    let clients = try names.map { name in
      let client = try team.client(try team.addUser(name, on: [board: .editor]))
      try client.subscribe("Note")
      return client
    }
    let readers = Background()
    for client in clients { readers.start { client.waitForEnd() } }
    let other = try team.client(try team.addUser("other", on: [board: .editor]))
    var mover = try NoteMover(other, making: 64, on: board)
    var (beside, alone, rates) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      alone.append(percentile99(try commitTimes(&mover)))
      let admins = Background()
      let start = now()
      for admin in 0..<2 {
        let file = try team.otherFile()
        admins.start {
          for change in 0..<500 {
            let role = [Role.reader, .commenter, .editor][(change + admin) % 3]
            try TeamDaemon.grant(role, to: names[change % names.count], on: board, in: file)
          }
        }
      }
      beside.append(percentile99(try commitTimes(&mover) { admins.isRunning }))
      rates.append(1_000 / (now() - start))
    }
    Figure(
      name: "p99 of commits while two administrators change 1,000 roles", unit: "ms", ours: median(beside) * 1e3,
      limit: median(alone) * 1e3, aim: .atMost(2)
    ).report()
    Figure(name: "– changes of roles", unit: "changes/s", ours: median(rates)).report()
  }

  /// Commits of a user beside another one that floods the daemon with commits and searches.
  func measureFlood() throws {
    let team = try TeamDaemon(self)
    defer { team.stop() }
    var filler = try StoreFiller(try WireClient(team.daemon.unix))
    try filler.fill(to: 20_000)
    let board = filler.board
    let flooder = try team.addUser("flooder", on: [board: .editor])
    let other = try team.client(try team.addUser("other", on: [board: .editor]))
    var mover = try NoteMover(other, making: 64, on: board)
    let writers = try (0..<8).map { _ in
      let client = try team.client(flooder)
      let note = [try client.newNote(on: board)]
      return {
        // As many as a connection may have under way.
        for _ in 0..<64 { try client.socket.write(client.commitFrame(note)) }
        for _ in 0..<64 { try client.skip(to: .committed) }
      }
    }
    let readers = try (0..<8).map { _ in
      let client = try team.client(flooder)
      return {
        let search = Fetch(entity: client.number(of: "Note"), predicate: "text CONTAINS 'no such text'")
        try client.send(.fetch(search))
        while try !client.nextChunk().isLast {}
      }
    }
    var (beside, alone) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      alone.append(percentile99(try commitTimes(&mover)))
      let flood = Background()
      flood.repeatUntilEnd(writers + readers)
      beside.append(percentile99(try commitTimes(&mover)))
      flood.end()
    }
    Figure(
      name: "p99 of a user's commits beside a flood of another user", unit: "ms", ours: median(beside) * 1e3,
      limit: median(alone) * 1e3, aim: .atMost(2)
    ).report()
  }

  /// The longest commit of a client beside a batch of 100,000 rows of another one.
  func measureCommitsBesideBatch() throws {
    let (count, rows) = (100_000, place("rows"))
    var longest = [Double]()
    for _ in 0..<Self.rounds {
      let daemon = try Daemon(self, data: place("data"))
      defer { daemon.stop() }
      let client = try WireClient(daemon.unix)
      let board = try client.insertBoard()
      var mover = try NoteMover(client, making: 64, on: board)
      let line = "{\"text\":\"\(Bench.text)\",\"board\":\"\(board.key)\"}\n"
      try Data(String(repeating: line, count: count).utf8).write(to: URL(fileURLWithPath: rows))
      let command = "'\(shell)' graph insert Note - --one-commit --server '\(daemon.unix)' < '\(rows)'"
      let batch = try ServerProcess("/bin/sh", ["-c", command], readsOutput: false)
      let work = Background()
      work.start { batch.wait(timeoutSeconds: 300) }
      longest.append(try commitTimes(&mover) { work.isRunning }.max() ?? .nan)
    }
    remove(rows)
    Figure(
      name: "the longest commit beside a batch of 100,000 rows", unit: "ms", ours: median(longest) * 1e3
    ).report()
  }

  /// The rate of commits of sixteen clients of a user, in a process of their own.
  private func commitRate(_ team: TeamDaemon, _ token: String) throws -> Double {
    let clients = try ServerProcess(
      mode: ["commit-clients", "\(team.daemon.tcp)", "\(team.daemon.unix)", token, team.pin, "\(seconds)"])
    defer { clients.wait() }
    guard let rate = Double(try clients.line(timeoutSeconds: 10 * seconds + 60)) else {
      throw BenchmarkError(description: "the clients have not committed")
    }
    return rate
  }

  private func measureEncryptedCommits() throws {
    var (ours, limit) = ([Double](), [Double]())
    let (encrypted, plain) = (try TeamDaemon(self, encrypts: true), try TeamDaemon(self))
    defer {
      encrypted.stop()
      plain.stop()
    }
    for round in 0..<Self.rounds {
      ours.append(try commitRate(encrypted, try encrypted.addUser("user \(round)", role: .editor).secretText))
      limit.append(try commitRate(plain, try plain.addUser("user \(round)", role: .editor).secretText))
    }
    Figure(
      name: "16 clients over TLS, one note per commit", unit: "notes/s", ours: median(ours), limit: median(limit),
      aim: .atLeast(0.8)
    ).report()
  }

  /// Commits over TLS, handshakes of sixteen clients, and the memory of an idle encrypted connection of a user.
  func measureTLS() throws {
    try measureEncryptedCommits()
    let team = try TeamDaemon(self, encrypts: true)
    defer { team.stop() }
    let token = try team.addUser("user", role: .reader)
    let clients = try TLSClients(team.daemon.tcp)
    var handshakes = [Double]()
    for _ in 0..<Self.rounds {
      handshakes.append(rate(for: seconds, (0..<16).map { _ in { try clients.handshake() } }))
    }
    Figure(name: "TLS handshakes of 16 clients", unit: "handshakes/s", ours: median(handshakes)).report()
    var growths = [Growth]()
    for round in 0..<Self.rounds {
      growths.append(
        try growth(of: team.daemon.process) {
          try (0..<Self.revoked).map { number in
            let replica = UniqueID(high: UInt64(round) + 1, low: UInt64(number))
            let hello = Hello(model: nil, replica: replica, author: "bench", credential: token.secretText)
            return IdleConnection(try clients.connect(hello: Frame.encode(ToServer(1, .hello(hello)))))
          }
        })
    }
    Figure(
      name: "idle encrypted connection, VmRSS", unit: "KiB", ours: growths[0].resident, limit: 48, aim: .atMost(1)
    ).report()
    Figure(
      name: "– the most of five runs in one daemon", unit: "KiB", ours: growths.map(\.resident).max() ?? .nan
    ).report()
  }
}
