// Tests: CheckTests.swift, BitFlipTests.swift
import GraphModel

/// One deviation from a sound store.
public struct StoreFinding: Hashable, Sendable, CustomStringConvertible {
  /// The kind of a finding. Scripts use the names, so they must not change.
  public enum Kind: String, Sendable, CaseIterable {
    /// The write-ahead log has lost commits from its middle.
    case log
    /// The commit log is missing or damaged, or belongs to another store or to another past of the store.
    case commitLog = "commit log"
    /// SQLite's own check failed, or something can't be read or decoded.
    case integrity
    /// The tables and indexes differ from those that the model creates.
    case schema
    /// A row refers to a row that does not exist.
    case foreignKey = "foreign key"
    /// The store's own id, or a model that it keeps, has changed.
    case store
    /// The store was made with another model than the one given.
    case model
    /// A value is stored in another form than its property's stored form.
    case form
    /// An object differs from the one that its last commit wrote.
    case checksum
    /// A value is missing or breaks a rule of the model.
    case rule
    /// Two objects share a key.
    case unique
    /// A relationship has too many objects, or too few.
    case count
    /// A derived attribute differs from its recomputed value.
    case derived
    /// A to-many refers to an object that does not exist.
    case dangling
    /// A to-many and its index differ.
    case edges
    /// The full-text index and the texts differ.
    case words
    /// The commits do not lead to the present graph.
    case history
    /// A commit has changed since it was committed.
    case fingerprint
    /// A tombstone is missing, or differs from the delete.
    case tombstone
    /// A sequence would repeat a number, or has skipped some.
    case sequence
  }

  /// The location of a finding. All fields are nil for a finding about the whole store.
  public struct Place: Hashable, Sendable, CustomStringConvertible {
    /// The table's name in the file.
    public var table: String?
    /// The rowid in the table.
    public var row: Int64?
    /// The object that the row contains or contained.
    public var object: ObjectID?

    /// Creates a place.
    public init(table: String? = nil, row: Int64? = nil, object: ObjectID? = nil) {
      self.table = table
      self.row = row
      self.object = object
    }

    public var description: String {
      let row = row.map { object == nil ? "row \($0)" : "(row \($0))" }
      return [table, object?.description, row].compactMap { $0 }.joined(separator: " ")
    }
  }

  /// The maximum number of findings listed for each kind; the others are counted.
  public static let maximumPerKind = 100

  /// The kind of the deviation.
  public let kind: Kind
  /// The location of the deviation.
  public let place: Place
  /// The rest of a sentence that begins with the place.
  public let text: String

  /// Creates a finding.
  public init(kind: Kind, place: Place = Place(), text: String) {
    self.kind = kind
    self.place = place
    self.text = text
  }

  /// Whether the store differs from the objects that the commits wrote. An object that breaks a rule is not damaged: a
  /// newer model version may be stricter than the one it was stored under.
  public var isDamage: Bool { kind != .rule && kind != .count }

  public var description: String {
    let place = place.description
    return "\(kind.rawValue): \(place)\(place.isEmpty ? "" : " ")\(text)"
  }
}

/// The findings of a check, limited for each kind. The parts of a check share one list.
package final class FindingList {
  private var listed = [StoreFinding.Kind: [StoreFinding]]()
  private var counts = [StoreFinding.Kind: Int]()

  package init() {}

  package func count(of kind: StoreFinding.Kind) -> Int { counts[kind, default: 0] }

  package func add(_ kind: StoreFinding.Kind, _ place: StoreFinding.Place = .init(), text: String) {
    counts[kind, default: 0] += 1
    if count(of: kind) <= StoreFinding.maximumPerKind {
      listed[kind, default: []].append(.init(kind: kind, place: place, text: text))
    }
  }

  package var all: [StoreFinding] {
    StoreFinding.Kind.allCases.flatMap { kind in
      let rest = count(of: kind) - StoreFinding.maximumPerKind
      assert(listed[kind, default: []].count == min(count(of: kind), StoreFinding.maximumPerKind))
      return listed[kind, default: []] + (rest > 0 ? [.init(kind: kind, text: "and \(rest) more")] : [])
    }
  }
}
