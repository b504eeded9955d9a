/// Where a predicate finds the objects that a path leads to.
public protocol ImageSource {
  /// The object; nil when it is not there, which ends the path.
  func image(of id: ObjectID) -> ObjectImage?
  /// The objects whose stored relationship `property` refers to `id`.
  func referrers(to id: ObjectID, through property: Property) -> [ObjectID]
  /// How many those are.
  func referrerCount(to id: ObjectID, through property: Property) -> Int
  /// So much has been asked for that nobody wants to hear more: paths end wherever they are, and what they say is nothing.
  var isExhausted: Bool { get }
}

extension ImageSource {
  /// Never.
  public var isExhausted: Bool { false }

  /// By listing them.
  public func referrerCount(to id: ObjectID, through property: Property) -> Int {
    referrers(to: id, through: property).count
  }
}

/// For predicates that read an object's own image only.
public struct NoImageSource: ImageSource {
  /// Needs nothing: it has no objects.
  public init() {}
  public func image(of id: ObjectID) -> ObjectImage? { nil }
  public func referrers(to id: ObjectID, through property: Property) -> [ObjectID] { [] }
}

/// Where an expression is evaluated: the object that is judged, and what paths from it lead to.
struct Judgement {
  let image: ObjectImage
  let source: any ImageSource
  /// The ends of paths that were followed before; nil outside a commit's judging.
  var paths: KeptPaths?
  /// Inside a subquery the objects around it, the nearest first.
  var outer: [ObjectImage] = []

  func image(at level: Int) -> ObjectImage? {
    level == 0 ? image : level <= outer.count ? outer[level - 1] : nil
  }
}

/// One relationship of a path, with what following it needs.
struct PathHop: Sendable {
  let property: Property
  let isToMany: Bool
  /// The side that holds the reference, when it is not this one.
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
    return object?[property].objectIDs ?? []
  }

  func count(of id: ObjectID, _ image: ObjectImage, _ source: any ImageSource) -> Int {
    if let inverse { return source.referrerCount(to: id, through: inverse) }
    return related(to: id, image, source).count
  }
}

/// Reads the values at the end of a path. A to-one that is null ends the path with a null.
struct PathReader: Sendable {
  private enum End: Sendable {
    case identifier
    case count(PathHop)
    case aggregate(GraphPredicate.Aggregate, PathHop, Property, zero: Value)
    case property(Property)
    case nothing
  }

  private let path: GraphPredicate.Path
  private let level: Int
  private let hops: [PathHop]
  /// For each hop the property that holds the reference.
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

  /// More objects than these are worth a look for those that are among them twice.
  private static let fewObjects = 16

  /// The objects at the end of the hops; nil for a to-one that leads nowhere.
  /// - Parameter once: an object that several ways lead to need be there only once: a path among friends of friends has more
  ///   ways than there are objects. Not for counts.
  func objects(_ judgement: Judgement, once: Bool = false) -> [ObjectID?] {
    guard let image = judgement.image(at: level) else { return [] }
    guard let paths = judgement.paths, !hops.isEmpty else { return find(from: image, judgement.source, once: once) }
    return paths.objects(from: image.id, over: path.hops, stored: stored, once: once) {
      find(from: image, judgement.source, once: once)
    }
  }

  private func find(from image: ObjectImage, _ source: any ImageSource, once: Bool) -> [ObjectID?] {
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
      if once, ids.count > 1, next.count > Self.fewObjects {
        var seen = Set<ObjectID?>()
        next = next.filter { seen.insert($0).inserted }
      }
      ids = next
    }
    return ids
  }

  /// What the path leads to, for whoever asks whether some or all of it is so: not as often as there are ways.
  func values(_ judgement: Judgement) -> [Value] {
    guard let image = judgement.image(at: level) else { return [] }
    if hops.isEmpty { return [value(at: image.id, image, judgement.source)] }
    guard let paths = judgement.paths else { return findValues(from: image, judgement) }
    return paths.values(from: image.id, at: path) { findValues(from: image, judgement) }
  }

  private func findValues(from image: ObjectImage, _ judgement: Judgement) -> [Value] {
    var values = [Value]()
    for id in objects(judgement, once: true) {
      if judgement.source.isExhausted { return [] }
      values.append(value(at: id, image, judgement.source))
    }
    return values
  }

  private func value(at id: ObjectID?, _ image: ObjectImage, _ source: any ImageSource) -> Value {
    guard let id else { return .null }
    switch end {
    case .identifier: return .object(id)
    case .count(let hop): return .integer(Int64(hop.count(of: id, image, source)))
    case .aggregate(let aggregate, let hop, let attribute, let zero):
      let values = hop.related(to: id, image, source).map { source.image(of: $0)?[attribute] ?? .null }
      return Arithmetic.aggregate(aggregate, values, zero: zero)
    case .property(let property):
      let object = id == image.id ? image : source.image(of: id)
      return object?[property] ?? .null
    case .nothing: return .null
    }
  }
}
