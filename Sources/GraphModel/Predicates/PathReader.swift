/// Provides the objects that a predicate's paths lead to.
public protocol ImageSource {
  /// The object; nil if it does not exist, which ends the path.
  func image(of id: ObjectID) -> ObjectImage?
  /// The objects whose stored relationship `property` refers to `id`.
  func referrers(to id: ObjectID, through property: Property) -> [ObjectID]
  /// The number of these objects.
  func referrerCount(to id: ObjectID, through property: Property) -> Int
  /// Whether the caller's budget is exhausted; paths then end early, and their values are meaningless.
  var isExhausted: Bool { get }
}

extension ImageSource {
  /// Always false.
  public var isExhausted: Bool { false }

  /// Counts the result of `referrers(to:through:)`.
  public func referrerCount(to id: ObjectID, through property: Property) -> Int {
    referrers(to: id, through: property).count
  }
}

/// An empty source, for predicates that read an object's own image only.
public struct NoImageSource: ImageSource {
  /// Creates an empty source.
  public init() {}
  public func image(of id: ObjectID) -> ObjectImage? { nil }
  public func referrers(to id: ObjectID, through property: Property) -> [ObjectID] { [] }
}

/// The context of an evaluation: the object, and a source for paths.
struct EvaluationContext {
  let image: ObjectImage
  let source: any ImageSource
  /// The cached ends of paths; nil outside the evaluation of a commit, unless a predicate repeats a path.
  var paths: PathCache?
  /// The outer objects of a subquery, innermost first.
  var outer: [ObjectImage] = []

  func image(at level: Int) -> ObjectImage? {
    assert(level >= 0, "levels count outward from the object itself")
    return level == 0 ? image : level <= outer.count ? outer[level - 1] : nil
  }
}

/// One relationship of a path, prepared for traversal.
struct PathHop: Sendable {
  let property: Property
  let isToMany: Bool
  /// The relationship that stores the reference, if it is not this one.
  let inverse: Property?

  init?(_ number: PropertyNumber, _ model: Model) {
    guard let property = model.property(number), case .relationship(let relationship) = property.kind else {
      return nil
    }
    self.property = property
    isToMany = relationship.isToMany
    inverse = relationship.storage == .inverse ? model.property(relationship.inverse) : nil
  }

  func related(to id: ObjectID, _ image: ObjectImage, _ source: any ImageSource) -> [ObjectID] {
    if let inverse { return source.referrers(to: id, through: inverse) }
    let object = id == image.id ? image : source.image(of: id)
    return object.objectIDs(of: property)
  }

  func count(of id: ObjectID, _ image: ObjectImage, _ source: any ImageSource) -> Int {
    if let inverse { return source.referrerCount(to: id, through: inverse) }
    return related(to: id, image, source).count
  }
}

/// Reads the values at the end of a path. A null to-one ends the path with null.
struct PathReader: Sendable {
  private enum End: Sendable {
    case identifier
    case count(PathHop)
    case aggregate(GraphPredicate.Aggregate, PathHop, Property, zero: Value)
    case property(Property)
    case nothing

    /// Whether the end reads objects beyond the path's own.
    var readsOthers: Bool {
      switch self {
      case .count, .aggregate: true
      case .identifier, .property, .nothing: false
      }
    }
  }

  private let path: GraphPredicate.Path
  private let level: Int
  private let hops: [PathHop]
  /// For each hop, the property that stores the reference.
  private let stored: [PropertyNumber]
  private let end: End

  init(_ path: GraphPredicate.Path, _ model: Model) {
    self.path = path
    level = path.level
    hops = path.hops.compactMap { PathHop($0, model) }
    stored = hops.map { ($0.inverse ?? $0.property).number }
    switch path.end {
    case .identifier: end = .identifier
    case .count(let number): end = PathHop(number, model).map(End.count) ?? .nothing
    case .property(let number): end = model.property(number).map(End.property) ?? .nothing
    case .aggregate(let aggregate, let number, let attribute):
      if let hop = PathHop(number, model), let attribute = model.property(attribute) {
        end = .aggregate(aggregate, hop, attribute, zero: Arithmetic.zero(of: attribute.attribute?.kind))
      } else {
        end = .nothing
      }
    }
  }

  /// Above this number of objects duplicates are removed.
  private static let fewObjects = 16

  /// The objects at the end of the hops; nil for a to-one that is null.
  /// - Parameter distinct: whether duplicates may be removed, as a path over friends of friends reaches objects many
  ///   times. Must be false for counts.
  func objects(_ context: EvaluationContext, distinct: Bool = false) -> [ObjectID?] {
    guard let image = context.image(at: level) else { return [] }
    guard let paths = context.paths, !hops.isEmpty else { return find(from: image, context.source, distinct: distinct) }
    return paths.objects(from: image.id, over: path.hops, stored: stored, distinct: distinct) {
      find(from: image, context.source, distinct: distinct)
    }
  }

  private func find(from image: ObjectImage, _ source: any ImageSource, distinct: Bool) -> [ObjectID?] {
    var ids: [ObjectID?] = [image.id]
    for hop in hops {
      var next = [ObjectID?]()
      for id in ids {
        guard let id else {
          next.append(nil)
          continue
        }
        if source.isExhausted { return [] }
        let related = hop.related(to: id, image, source)
        if hop.isToMany {
          for other in related { next.append(other) }
        } else {
          next.append(related.first)
        }
      }
      if distinct, ids.count > 1, next.count > Self.fewObjects {
        var seen = Set<ObjectID?>()
        next = next.filter { seen.insert($0).inserted }
      }
      ids = next
    }
    return ids
  }

  /// The values at the end of the path, without multiplicity; for quantifiers, not for counts.
  func values(_ context: EvaluationContext) -> [Value] {
    guard let image = context.image(at: level) else { return [] }
    if hops.isEmpty, !end.readsOthers { return [value(at: image.id, image, context.source)] }
    guard let paths = context.paths else { return findValues(from: image, context) }
    return paths.values(from: image.id, at: path) { findValues(from: image, context) }
  }

  private func findValues(from image: ObjectImage, _ context: EvaluationContext) -> [Value] {
    var values = [Value]()
    for id in objects(context, distinct: true) {
      if context.source.isExhausted { return [] }
      values.append(value(at: id, image, context.source))
    }
    return values
  }

  private func value(at id: ObjectID?, _ image: ObjectImage, _ source: any ImageSource) -> Value {
    guard let id else { return .null }
    switch end {
    case .identifier: return .object(id)
    case .count(let hop): return .integer(Int64(hop.count(of: id, image, source)))
    case .aggregate(let aggregate, let hop, let attribute, let zero):
      let values = hop.related(to: id, image, source).map { (source.image(of: $0)?[attribute]).orNull }
      return Arithmetic.aggregate(aggregate, values, zero: zero)
    case .property(let property):
      let object = id == image.id ? image : source.image(of: id)
      return (object?[property]).orNull
    case .nothing: return .null
    }
  }
}
