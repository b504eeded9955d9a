// Tests: PrefetchTests.swift, LoadPathTests.swift
import GraphModel

/// The names of relationships to load along with a result, and to follow on from the loaded objects: a prefix tree of
/// paths, not a tree of objects. Paths with a common beginning share it, so that nothing is requested twice.
public struct RelationshipTree: Hashable, Sendable {
  struct Branch: Hashable, Sendable {
    let property: PropertyNumber
    var tree: RelationshipTree
  }

  /// In the order of the properties' numbers, one for each.
  private(set) var branches = [Branch]()

  /// A tree without relationships.
  public static let none = RelationshipTree([])

  /// A tree of paths, each a list of relationships by their numbers.
  public init(_ paths: [[PropertyNumber]]) {
    for path in paths { add(path[...]) }
  }

  /// A tree of named paths, separated by commas: `board.owner,tags`.
  /// - Throws: `Refusal`, when the model has no such relationship.
  public init(parsing text: String, entity: Entity, model: Model) throws {
    for path in text.split(separator: ",") {
      var place = entity
      var numbers = [PropertyNumber]()
      for name in path.split(separator: ".", omittingEmptySubsequences: false) {
        let trimmed = name.drop { $0 == " " }.prefix { $0 != " " }
        guard let property = place.property(named: String(trimmed)), let relationship = property.relationship,
          let destination = model.entity(relationship.destination)
        else { throw Refusal(.malformed, "\(place.name) has no relationship \(trimmed)") }
        numbers.append(property.number)
        place = destination
      }
      add(numbers[...])
    }
  }

  /// Whether there is nothing to follow.
  public var isEmpty: Bool { branches.isEmpty }

  /// The tree with another path.
  public func adding(_ path: [PropertyNumber]) -> RelationshipTree {
    var tree = self
    tree.add(path[...])
    return tree
  }

  private mutating func add(_ path: ArraySlice<PropertyNumber>) {
    // The end of the path.
    guard let first = path.first else { return }
    if let index = branches.firstIndex(where: { $0.property == first }) {
      branches[index].tree.add(path.dropFirst())
    } else {
      var tree = RelationshipTree.none
      tree.add(path.dropFirst())
      let place = branches.firstIndex { $0.property > first } ?? branches.count
      branches.insert(Branch(property: first, tree: tree), at: place)
    }
  }
}
