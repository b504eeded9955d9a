import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Several people type in one text, each with messages in transit to and from a server that merges. A person who
/// continues their own typing keeps their words contiguous, wherever and whenever the others type.
@Suite struct ConcurrentTypingTests {
  /// A person with a cursor after their newest letter; no two use the same letters.
  private final class Typist {
    let script: ReplicaTranscript
    let note: ManagedObject
    let letters: [Character]
    /// Their letters, in the order of writing.
    var typed = ""
    var outbox = [(transaction: Transaction, request: UInt64)]()
    var inbox = [(body: ToClient.Body, request: UInt64)]()
    private var isSaving = false

    init(_ letters: String, _ text: String) throws {
      script = try ReplicaTranscript()
      self.letters = Array(letters)
      #expect(script.connect() == ["welcomed"])
      _ = script.context.follow(entity: script.note)
      #expect(script.lines() == ["> follow"])
      _ = script.receive(.subscribed(query: 4, resumed: false), 2)
      _ = script.receive(script.last([try script.image(5, 1, ["text": .string(text)])], at: 1), 2)
      _ = script.receive(.advance(revision: 1, fingerprint: 1_000))
      note = try #require(script.context.object(script.id(5)))
    }

    var text: String { note["text"].stringValue ?? "" }
    /// Their own letters, if they are contiguous; nil when letters of others are among them.
    var run: String? {
      let own = Set(letters)
      guard let first = text.firstIndex(where: own.contains), let last = text.lastIndex(where: own.contains) else {
        return ""
      }
      let run = text[first...last]
      return run.allSatisfy(own.contains) ? String(run) : nil
    }

    func type(_ random: inout SeededGenerator) {
      guard let letter = random.pick(letters) else { return }
      var text = text
      let own = Set(letters)
      // The very first letter is inserted between the brackets.
      let place =
        text.lastIndex(where: own.contains).map { text.index(after: $0) }
        ?? text.index(text.startIndex, offsetBy: 1)
      text.insert(letter, at: place)
      typed.append(letter)
      note["text"] = .string(text)
    }

    /// Takes the last letter back.
    func takeBack() {
      var text = text
      let own = Set(letters)
      guard let place = text.lastIndex(where: own.contains), !typed.isEmpty else { return }
      text.remove(at: place)
      typed.removeLast()
      note["text"] = .string(text)
    }

    func save() {
      guard !isSaving, script.context.save() != nil else { return }
      isSaving = true
      takeCommits()
    }

    func receive() {
      let (body, request) = inbox.removeFirst()
      if case .committed = body { isSaving = false }
      script.context.handle(.received(ToClient(request, body)))
      takeCommits()
    }

    private func takeCommits() {
      for case .send(let message) in script.context.takeActions() {
        if case .commit(let transaction) = message.body { outbox.append((transaction, message.request)) }
      }
    }

    /// Messages in transit are lost; the server's later commits arrive, then unanswered messages are sent again.
    func reconnect(to server: Server) throws {
      (inbox, outbox) = ([], [])
      _ = script.handle(.disconnected)
      let asked = try #require(script.connect(head: server.revision).last)
      let since = try #require(Revision(asked.split(separator: " ").last ?? ""))
      inbox.append((.subscribed(query: 4, resumed: true, known: true), 2))
      for (revision, edit) in server.committed where revision > since {
        inbox.append((script.delta(4, revision, [script.update(5, [edit], previous: revision - 1)]), 0))
      }
      inbox.append((.advance(revision: server.revision, fingerprint: script.token(server.revision).fingerprint), 0))
    }
  }

  /// Commits edits in the order of their arrival, each rebased over the commits since its base.
  private struct Server {
    var text: String
    var revision: Revision = 1
    var committed = [(revision: Revision, edit: Edit)]()
    /// All replicas have the same id here.
    var outcomes = [ObjectIdentifier: [TransactionID: Revision]]()

    /// Sends a commit to all, to its author last.
    mutating func commit(
      _ transaction: Transaction, _ request: UInt64, of author: Typist, _ all: [Typist]
    ) throws {
      if let earlier = outcomes[ObjectIdentifier(author)]?[transaction.id] {
        let answer = CommitResult(revision: earlier, fingerprint: 0, identities: [], conflicts: [])
        return author.inbox.append((.committed(answer, objects: [], isComplete: false), request))
      }
      let change = try #require(transaction.changes.first)
      let edit = try #require(change.edits.first)
      guard case .splice(var splices) = edit.action else { throw Refusal(.malformed, "\(edit)") }
      for case (let earlier, .splice(let theirs)) in committed.map({ ($0.revision, $0.edit.action) })
      where earlier > change.base {
        splices = TextSplice.rebase(splices, over: theirs)
      }
      text = try #require(TextSplice.apply(splices, to: text))
      revision += 1
      outcomes[ObjectIdentifier(author), default: [:]][transaction.id] = revision
      let moved = Edit(edit.property, .splice(splices))
      committed.append((revision, moved))
      for typist in all {
        let update = typist.script.update(5, [moved], previous: revision - 1)
        typist.inbox.append((typist.script.delta(4, revision, [update]), 0))
      }
      author.inbox.append((author.script.committed(revision), request))
    }
  }

  /// All type, delete, save and receive in random order, until everything is saved and received.
  private func run(
    _ letters: [String], losingConnections: Bool = false, _ random: inout SeededGenerator
  ) throws -> (server: Server, typists: [Typist]) {
    var server = Server(text: "<>")
    let typists = try letters.map { try Typist($0, server.text) }
    for _ in 0..<Int.random(in: 20...80, using: &random) {
      guard let typist = random.pick(typists) else { continue }
      if losingConnections, random.chance(8) {
        // A sent message may have arrived.
        if let (transaction, request) = typist.outbox.first, random.chance(60) {
          try server.commit(transaction, request, of: typist, typists)
        }
        try typist.reconnect(to: server)
        continue
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0: if random.chance(40) { typist.takeBack() } else { typist.type(&random) }
      case 1..<4: typist.type(&random)
      case 4..<6: typist.save()
      case 6..<8:
        if !typist.outbox.isEmpty {
          let (transaction, request) = typist.outbox.removeFirst()
          try server.commit(transaction, request, of: typist, typists)
        }
      default: if !typist.inbox.isEmpty { typist.receive() }
      }
    }
    while typists.contains(where: { !$0.inbox.isEmpty || !$0.outbox.isEmpty || $0.script.context.hasChanges }) {
      for typist in typists {
        while !typist.inbox.isEmpty { typist.receive() }
        typist.save()
        if let (transaction, request) = typist.outbox.first {
          typist.outbox.removeFirst()
          try server.commit(transaction, request, of: typist, typists)
        }
      }
    }
    return (server, typists)
  }

  /// Saves arrive without their answers, and answers of earlier saves arrive.
  @Test(arguments: [["ab", "AB"], ["abcdefgh", "ABCDEFGH", "12345678"]])
  func wordsStayContiguousAcrossReconnects(letters: [String]) throws {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let (server, typists) = try run(letters, losingConnections: true, &random)
      for typist in typists {
        #expect(typist.text == server.text, "seed \(seed)")
        #expect(typist.run == typist.typed, "seed \(seed): \(server.text)")
      }
    }
  }

  /// - Parameter letters: with few different ones, a comparison of two texts often can't find the new one.
  @Test(arguments: [["ab", "AB"], ["a", "A", "1"], ["abcdefgh", "ABCDEFGH", "12345678"]])
  func wordsStayContiguous(letters: [String]) throws {
    var commits = 0
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let (server, typists) = try run(letters, &random)
      commits += server.committed.count
      for typist in typists {
        #expect(typist.text == server.text, "seed \(seed)")
        #expect(typist.run == typist.typed, "seed \(seed): \(server.text)")
      }
    }
    #expect(commits > 800)
  }
}
