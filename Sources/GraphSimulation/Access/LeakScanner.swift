import GraphModel

/// Finds traces of objects in bytes of the protocol: ids, and words of their texts.
///
/// The low half of an id is random, and each text contains a unique word such as `q000001z`. The scanner finds both
/// anywhere in a message: in values, edits, refusals, cursors or presences.
struct LeakScanner {
  /// The ids and words in some bytes.
  struct Traces: Equatable {
    var ids = Set<ObjectID>()
    var words = Set<Int>()

    mutating func formUnion(_ other: Traces) {
      ids.formUnion(other.ids)
      words.formUnion(other.words)
    }
  }

  /// All objects that ever existed, by the low half of their ids.
  private var known = [UInt64: ObjectID]()

  mutating func add(_ id: ObjectID) { known[id.key.low] = id }

  /// All objects that ever existed.
  var ids: some Collection<ObjectID> { known.values }

  /// The unique word with this number.
  static func word(_ number: Int) -> String {
    let digits = String(number)
    return "q" + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits + "z"
  }

  func traces(in bytes: [UInt8]) -> Traces {
    var traces = Traces()
    var window: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      // The halves of an id are little-endian.
      window = window >> 8 | UInt64(byte) << 56
      if index < 7 { continue }
      if byte == UInt8(ascii: "z"), window & 0xFF == UInt64(UInt8(ascii: "q")), let number = Self.number(window) {
        traces.words.insert(number)
      }
      if let id = known[window] { traces.ids.insert(id) }
    }
    return traces
  }

  /// The number in the word whose bytes are `window`, the first one in the lowest bits.
  private static func number(_ window: UInt64) -> Int? {
    var number = 0
    for place in 1...6 {
      let digit = Int(window >> UInt64(8 * place) & 0xFF) - Int(UInt8(ascii: "0"))
      guard (0...9).contains(digit) else { return nil }
      number = 10 * number + digit
    }
    return number
  }

  /// The words in the texts of an object.
  static func words(of image: ObjectImage) -> Set<Int> {
    var words = Set<Int>()
    for case .string(let text) in image.values { words.formUnion(self.words(in: text)) }
    return words
  }

  /// The words in the texts that a change sets or inserts.
  static func words(of change: Change) -> Set<Int> {
    var words = Set<Int>()
    for edit in change.edits {
      switch edit.action {
      case .set(.string(let text)): words.formUnion(self.words(in: text))
      case .splice(let splices): for splice in splices { words.formUnion(self.words(in: splice.insertion)) }
      default: break
      }
    }
    return words
  }

  private static func words(in text: String) -> Set<Int> { LeakScanner().traces(in: Array(text.utf8)).words }
}

/// The words that a transaction gave to an object. If they lose a conflict, no state of the object has them.
struct RequestedWords {
  private let change: Change
  private let words: Set<Int>

  /// The words of a transaction, without the changes that have none.
  static func of(_ transaction: Transaction) -> [RequestedWords] {
    transaction.changes.map(RequestedWords.init).filter { !$0.words.isEmpty }
  }

  private init(_ change: Change) { (self.change, words) = (change, LeakScanner.words(of: change)) }

  /// The words, if a user sees the object in `graph`: the changed one, or the one with the unique key of an insert.
  func seen(in graph: RecordedGraph, _ access: NaiveAccess, _ model: AccessModel) -> Set<Int> {
    let isSeen = graph.images.values.contains { isAbout($0, model) && access.sees($0, in: graph, model) }
    return isSeen ? words : []
  }

  private func isAbout(_ image: ObjectImage, _ model: AccessModel) -> Bool {
    guard change.id.isTemporary else { return image.id == change.id }
    guard change.kind == .insert, image.id.entity == change.id.entity,
      let entity = model.model.entity(image.id.entity)
    else { return false }
    return entity.uniquenessConstraints.joined().contains { number in
      guard let property = entity.property(number), !image[property].isNull else { return false }
      return change.edits.contains { $0.property == number && $0.action == .set(image[property]) }
    }
  }
}

/// The traces of all states that a user with some rights has seen. A session of the user may receive these.
struct AccessSight {
  private(set) var through: Revision = 0
  private(set) var traces = LeakScanner.Traces()

  /// Adds the states of the commits since the last call, and the values that lost a conflict in them: who sees the
  /// object may ask for those.
  /// - Parameter requested: the words in the edits of each transaction.
  mutating func catchUp(
    _ recorder: GraphRecorder, _ access: NaiveAccess, _ model: AccessModel,
    requested: [TransactionID: [RequestedWords]]
  ) {
    if recorder.revision <= through { return }
    for record in recorder.records where record.revision > through {
      guard let graph = recorder.state(record.revision) else { preconditionFailure("each commit has a state") }
      for case let image? in record.changes.map(\.after) where access.sees(image, in: graph, model) {
        traces.ids.insert(image.id)
        traces.words.formUnion(LeakScanner.words(of: image))
      }
      for words in requested[record.transaction, default: []] {
        traces.words.formUnion(words.seen(in: graph, access, model))
      }
    }
    through = recorder.revision
  }
}
