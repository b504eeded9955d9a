import GraphModel

/// An object in a result, and the values that give it its place there.
public final class ResultsRow: Sendable, Ranked {
  /// The object.
  public let id: ObjectID
  /// What its section goes by, if there are sections, then its sort keys' values.
  let values: [Value]

  var weight: Int { 1 }

  init(id: ObjectID, values: [Value]) {
    self.id = id
    self.values = values
  }
}

/// The order of a result's rows: the sections' order first, then the sort keys, then ids.
///
/// Rows of a section lie together whatever the sort says. Core Data leaves it to the caller that the first sort
/// descriptor groups as the section key path does, and fails when it does not; here the section's key goes before the
/// sort unless it begins with that key already.
public struct ResultsOrder: Sendable {
  private let all: SortOrder
  private let section: SortOrder
  /// What a section is called, which under a collation is not what it is ordered by.
  private let name: ExpressionEvaluator?

  /// Whether rows are grouped; without, all of them are one section.
  public var hasSections: Bool { name != nil }
  /// Whether values of other objects than the row's own give it its place.
  public let reachesOthers: Bool

  /// An order of rows in sections.
  /// - Parameter section: what a section's objects share; nil for a single section.
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

  /// An object as a row.
  func row(_ image: ObjectImage, in source: any ImageSource) -> ResultsRow {
    var values = all.values(of: image, in: source)
    if let name { values.append(name.value(of: image, in: source)) }
    return ResultsRow(id: image.id, values: values)
  }

  func precedes(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    all.precedes(left.values, left.id, right.values, right.id)
  }

  /// Whether the section of one row stands before that of another.
  func sectionPrecedes(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    // Of one id, nothing but the key tells them apart.
    section.precedes(left.values, left.id, right.values, left.id)
  }

  func isSameSection(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    !sectionPrecedes(left, right) && !sectionPrecedes(right, left)
  }

  /// Whether two rows of one object have one place.
  func isSamePlace(_ left: ResultsRow, _ right: ResultsRow) -> Bool {
    left === right || !precedes(left, right) && !precedes(right, left)
  }

  func sectionName(of row: ResultsRow) -> Value? { name == nil ? nil : row.values.last }
}
