import GraphModel

/// An object in a result, with the values that determine its position.
public final class ResultsRow: Sendable, RankedElement {
  /// The object.
  public let id: ObjectID
  /// The sort keys' values, preceded by the section key's if there are sections, and followed by the section's name.
  let values: [Value]

  var weight: Int { 1 }

  init(id: ObjectID, values: [Value]) {
    self.id = id
    self.values = values
  }
}

/// The order of a result's rows: by section, then by the sort keys, then by id.
///
/// The rows of a section are always adjacent. Core Data requires that the first sort descriptor groups as the section
/// key path does, and fails otherwise. Here the section's key is put before the sort keys unless they begin with it.
public struct ResultsOrder: Sendable {
  private let all: SortOrder
  private let section: SortOrder
  /// Evaluates a section's name; under a collation it differs from the value that orders the section.
  private let name: ExpressionEvaluator?

  /// Whether rows are grouped into sections; otherwise all of them form one section.
  public var hasSections: Bool { name != nil }
  /// Whether the position of a row depends on values of other objects.
  public let reachesOthers: Bool

  /// Creates an order of rows, in sections if there is a section key.
  /// - Parameter section: the path whose value the objects of a section share; nil for a single section.
  public init(_ sort: [SortKey], section: GraphPredicate.Path? = nil, model: Model) {
    var keys = sort
    if let section, sort.first?.path != section { keys.insert(SortKey(section), at: 0) }
    all = SortOrder(keys, model: model)
    self.section = SortOrder(section == nil ? [] : Array(keys.prefix(1)), model: model)
    name = section.map { ExpressionEvaluator(.path($0), model: model) }
    reachesOthers = keys.contains { key in
      guard key.path.hops.isEmpty else { return true }
      switch key.path.end {
      case .property, .identifier: return false
      case .count, .aggregate: return true
      }
    }
  }

  /// Makes a row for an object.
  func row(_ image: ObjectImage, in source: any ImageSource) -> ResultsRow {
    var values = all.values(of: image, in: source)
    if let name { values.append(name.value(of: image, in: source)) }
    return ResultsRow(id: image.id, values: values)
  }

  func precedes(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    all.precedes(left.values, left.id, right.values, right.id)
  }

  /// Whether the section of one row precedes that of another.
  func sectionPrecedes(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    // The id is the same on both sides, so only the section key decides.
    section.precedes(left.values, left.id, right.values, left.id)
  }

  func isSameSection(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    !sectionPrecedes(left, right) && !sectionPrecedes(right, left)
  }

  /// Whether two rows of one object have the same position.
  func isSamePlace(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    left === right || !precedes(left, right) && !precedes(right, left)
  }

  func sectionName(of row: ResultsRow) -> Value? { name == nil ? nil : row.values.last }
}
