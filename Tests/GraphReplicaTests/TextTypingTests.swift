import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// People who type in one text at once, each in a context of their own, on a real store. Messages wait on their way as
/// long as the seed likes, so every base is stale.
@Suite struct TextTypingTests {
  @Test func concurrentTypingKeepsWordsContiguous() throws {
    for seed in UInt64(0)..<25 {
      var random = SeededGenerator(seed: seed)
      let table = try TypingSimulation(writers: 3, text: "<0|1|2>")
      var typed = ["", "", ""]
      for _ in 0..<600 {
        let number = Int.random(in: 0..<3, using: &random)
        if random.chance(35), typed[number].unicodeScalars.count < 60 {
          let key = TypingSimulation.key(number, &random)
          // The caret is after the text that was typed last.
          let place = try #require(table.end(of: "\(number)" + typed[number], number), "seed \(seed)")
          table.write(number) { $0.unicodeScalars.insert(key, at: place) }
          typed[number].unicodeScalars.append(key)
        } else if random.chance(10), let last = typed[number].unicodeScalars.last {
          let place = try #require(table.end(of: "\(number)" + typed[number], number), "seed \(seed)")
          table.write(number) { text in
            let before = text.unicodeScalars.index(before: place)
            #expect(text.unicodeScalars[before] == last)
            text.unicodeScalars.remove(at: before)
          }
          typed[number].unicodeScalars.removeLast()
        } else {
          try table.takeStep(number, &random)
        }
      }
      try table.settle()
      let wanted = "<0\(typed[0])|1\(typed[1])|2\(typed[2])>"
      #expect(Array(try table.stored().utf8) == Array(wanted.utf8), "seed \(seed)")
      #expect(table.refusals == [], "seed \(seed)")
      #expect(table.views() == [String](repeating: try table.stored(), count: 3), "seed \(seed)")
    }
  }

  @Test func concurrentTypingAtOnePlaceLosesNothing() throws {
    for seed in UInt64(0)..<25 {
      var random = SeededGenerator(seed: seed)
      let table = try TypingSimulation(writers: 2, text: "")
      // No two keys are alike: 200 of each, from ranges of their own.
      let ranges: [Range<UInt32>] = [0x4E00..<0x4EC8, 0x1F300..<0x1F3C8]
      var next = ranges.map(\.lowerBound)
      while next[0] < ranges[0].upperBound || next[1] < ranges[1].upperBound {
        let number = Int.random(in: 0..<2, using: &random)
        if random.chance(50), next[number] < ranges[number].upperBound, let key = Unicode.Scalar(next[number]) {
          let previous = next[number] > ranges[number].lowerBound ? Unicode.Scalar(next[number] - 1) : nil
          table.write(number) { text in
            let scalars = text.unicodeScalars
            let place = previous.flatMap { scalars.firstIndex(of: $0) }.map { scalars.index(after: $0) }
            text.unicodeScalars.insert(key, at: place ?? scalars.startIndex)
          }
          next[number] += 1
        } else {
          try table.takeStep(number, &random)
        }
      }
      try table.settle()
      let text = try table.stored()
      for range in ranges {
        let mine = text.unicodeScalars.map(\.value).filter { range.contains($0) }
        #expect(mine == Array(range), "seed \(seed)")
      }
      #expect(text.unicodeScalars.count == 400, "seed \(seed)")
      #expect(table.refusals == [], "seed \(seed)")
      #expect(table.views() == [text, text], "seed \(seed)")
    }
  }

  /// Each edit between two saves keeps its own place: as one splice, both would insert the middle again.
  @Test func concurrentEditsOfBothEndsDoNotDuplicateMiddle() throws {
    let table = try TypingSimulation(writers: 2, text: "the cat sat")
    table.write(0) { $0 = "Look, " + $0 }
    table.write(0) { $0 += " down" }
    table.write(1) { $0 = "(" + $0 }
    table.write(1) { $0 += ")" }
    table.write(1) { $0.replace("cat", with: "dog") }
    try table.settle()
    #expect(try table.stored() == "Look, (the dog sat down)")
    #expect(table.views() == ["Look, (the dog sat down)", "Look, (the dog sat down)"])
  }

  /// If a character occurs several times, a setter can't find the new one. All clients must still end with one text of
  /// the typed length.
  @Test func repeatedCharactersConverge() throws {
    for seed in UInt64(0)..<25 {
      var random = SeededGenerator(seed: seed)
      let table = try TypingSimulation(writers: 3, text: "aa")
      var count = 2
      for _ in 0..<300 {
        let number = Int.random(in: 0..<3, using: &random)
        if random.chance(40) {
          table.write(number) { text in
            let place = text.indices.randomElement(using: &random) ?? text.endIndex
            text.insert("a", at: place)
          }
          count += 1
        } else {
          try table.takeStep(number, &random)
        }
      }
      try table.settle()
      let text = try table.stored()
      #expect(text == String(repeating: "a", count: count), "seed \(seed)")
      #expect(table.views() == [text, text, text], "seed \(seed)")
    }
  }

  /// After any edits of a text, all clients have the same text.
  @Test func anyEditsConverge() throws {
    for seed in UInt64(0)..<25 {
      var random = SeededGenerator(seed: seed)
      let table = try TypingSimulation(writers: 3, text: "the cat sat on the mat")
      for _ in 0..<300 {
        let number = Int.random(in: 0..<3, using: &random)
        if random.chance(40) {
          table.write(number) { text in
            var scalars = Array(text.unicodeScalars)
            let start = Int.random(in: 0...scalars.count, using: &random)
            let end = min(scalars.count, start + Int.random(in: 0...4, using: &random))
            let new =
              random.chance(70) ? [TypingSimulation.key(number, &random), "e\u{301}👩"].map { "\($0)" }.joined() : ""
            scalars.replaceSubrange(start..<end, with: Array(new.unicodeScalars))
            text = String(String.UnicodeScalarView(scalars))
          }
        } else {
          try table.takeStep(number, &random)
        }
      }
      try table.settle()
      #expect(table.refusals == [], "seed \(seed)")
      #expect(table.views() == [String](repeating: try table.stored(), count: 3), "seed \(seed)")
    }
  }
}

/// A server of one object, and the contexts of those who write in it.
private final class TypingSimulation {
  private final class Writer {
    let context: ObjectContext
    var up = [ToServer]()
    var down = [ToClient]()

    init(_ context: ObjectContext) { self.context = context }
  }

  private static let query: UInt64 = 4

  private let store: TestStore
  private let id: ObjectID
  private let text: Property
  private var writers = [Writer]()
  private(set) var refusals = [String]()

  init(writers count: Int, text words: String) throws {
    let model = try Fixtures.stickies()
    store = try TestStore(model)
    let board = try store.insert("Board", ["name": .string("B")])
    id = try store.insert("Note", ["board": .object(board), "text": .string(words)])
    text = try store.property("Note.text")
    let note = try store.entity("Note")
    for number in 0..<count {
      let replica = Replica(id: UniqueID(high: 8, low: UInt64(number)), author: "\(number)", model: model.hash)
      let writer = Writer(ObjectContext(model: model, replica: replica))
      writers.append(writer)
      writer.context.handle(.connected)
      _ = writer.context.follow(entity: note)
      collect(writer)
    }
    try settle()
    #expect(views() == [String](repeating: words, count: count))
  }

  /// Keys of one to four bytes, each writer's own.
  static func key(_ number: Int, _ random: inout SeededGenerator) -> Unicode.Scalar {
    let keys: [[Unicode.Scalar]] = [["a", "b", "é", "漢"], ["x", "y", "ß", "🎈"], ["p", "q", "\u{301}", "€"]]
    return random.pick(keys[number]) ?? "a"
  }

  // MARK: - Writers

  private func view(_ writer: Writer) -> String { writer.context.object(id)?["text"].stringValue ?? "(nothing)" }

  func views() -> [String] { writers.map { view($0) } }

  /// The end of the first occurrence of `words` in the text that a writer sees.
  func end(of words: String, _ number: Int) -> String.Index? {
    let text = view(writers[number])
    let (all, wanted) = (Array(text.unicodeScalars), Array(words.unicodeScalars))
    guard all.count >= wanted.count else { return nil }
    let start = (0...(all.count - wanted.count)).first { all[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    return start.map { text.unicodeScalars.index(text.startIndex, offsetBy: $0 + wanted.count) }
  }

  func write(_ number: Int, _ change: (inout String) -> Void) {
    var words = view(writers[number])
    change(&words)
    writers[number].context.object(id)?["text"] = .string(words)
  }

  /// Saves, or lets a message of this writer arrive.
  func takeStep(_ number: Int, _ random: inout SeededGenerator) throws {
    let writer = writers[number]
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      _ = writer.context.save()
      collect(writer)
    case 1, 2: try receive(from: writer)
    default: deliver(to: writer)
    }
  }

  /// Delivers all messages, and saves the remaining edits.
  func settle() throws {
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for writer in writers {
        _ = writer.context.save()
        collect(writer)
        while !writer.up.isEmpty || !writer.down.isEmpty {
          isQuiet = false
          try receive(from: writer)
          deliver(to: writer)
        }
      }
    }
  }

  private func collect(_ writer: Writer) {
    for action in writer.context.takeActions() {
      switch action {
      case .send(let message): writer.up.append(message)
      case .saved(_, .failure(let refusal)): refusals.append("\(refusal)")
      default: break
      }
    }
  }

  private func deliver(to writer: Writer) {
    guard !writer.down.isEmpty else { return }
    writer.context.handle(.received(writer.down.removeFirst()))
    collect(writer)
  }

  // MARK: - The server

  func stored() throws -> String { try store.value(id, "Note.text").stringValue ?? "(nothing)" }

  private func receive(from writer: Writer) throws {
    guard !writer.up.isEmpty else { return }
    let message = writer.up.removeFirst()
    let head = try store.store.head
    switch message.body {
    case .hello:
      let welcome = Welcome(
        model: store.model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
        heartbeatMilliseconds: 15_000, principal: "ann", role: .editor)
      writer.down.append(ToClient(message.request, .welcome(welcome)))
    case .subscribe:
      let objects = try store.all("Note")
      writer.down.append(ToClient(message.request, .subscribed(query: Self.query, resumed: false)))
      writer.down.append(
        ToClient(message.request, .chunk(Chunk(objects: objects, end: (at: head, count: UInt64(objects.count))))))
      writer.down.append(ToClient(0, .advance(revision: head.revision, fingerprint: head.fingerprint)))
    case .commit(let transaction): try commit(transaction, message.request, writer)
    default: break
    }
  }

  private func commit(_ transaction: Transaction, _ request: UInt64, _ writer: Writer) throws {
    store.now += 1_000
    let result = try store.store.commit([.transaction(transaction, author: "somebody")], now: store.now)[0]
    if let record = result.record {
      let changes = record.changes.map { change in
        Delta.Change(kind: .updated, id: change.id, previous: change.before?.revision ?? 0, edits: change.edits)
      }
      for other in writers {
        other.down.append(ToClient(0, .delta(Delta(query: Self.query, commit: record, changes: changes))))
      }
    }
    switch result.outcome {
    case .refused(let refusal): writer.down.append(ToClient(request, .refused(refusal)))
    case .committed(let committed):
      let objects = result.record?.changes.compactMap(\.after) ?? []
      writer.down.append(ToClient(request, .committed(committed, objects: objects, isComplete: true)))
    }
  }
}
