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
    var scanner = Traces()
    for case .string(let text) in image.values { scanner.formUnion(LeakScanner().traces(in: Array(text.utf8))) }
    return scanner.words
  }
}

/// The traces of all states that a user with some rights has seen. A session of the user may receive these.
struct AccessSight {
  private(set) var through: Revision = 0
  private(set) var traces = LeakScanner.Traces()

  /// Adds the states of the commits since the last call.
  mutating func catchUp(_ recorder: GraphRecorder, _ access: NaiveAccess, _ model: AccessModel) {
    if recorder.revision <= through { return }
    for record in recorder.records where record.revision > through {
      guard let graph = recorder.state(record.revision) else { preconditionFailure("each commit has a state") }
      for case let image? in record.changes.map(\.after) where access.sees(image, in: graph, model) {
        traces.ids.insert(image.id)
        traces.words.formUnion(LeakScanner.words(of: image))
      }
    }
    through = recorder.revision
  }
}
