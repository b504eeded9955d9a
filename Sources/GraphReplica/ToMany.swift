// Tests: ToManyTests.swift
import GraphModel

/// A to-many relationship of an object, as a collection: `note.tags`.
///
/// It is a view of the relationship in the object's context, not a copy: an `insert` is an edit of the context, and
/// the next read includes the commits of other clients. Insertions and removals work without loaded members. A read
/// whose result is not known is reported as an ``UnloadedReadError``, which traps in debug builds: `load` the members
/// before, or prefetch them.
public protocol ToManyRelationship<Element>: Sequence where Element: ManagedObject {
  /// The object that has the relationship.
  var owner: ManagedObject { get }
  /// The number of the relationship in the model.
  var property: PropertyNumber { get }
}

/// A to-many relationship without an order.
public struct ToMany<Element: ManagedObject>: ToManyRelationship {
  public let owner: ManagedObject
  public let property: PropertyNumber

  /// The relationship of a number; generated classes call it.
  public init(_ owner: ManagedObject, _ property: PropertyNumber) { (self.owner, self.property) = (owner, property) }

  /// Adds an object, and sets the inverse.
  public func insert(_ object: Element) { owner.add(object, to: property) }
}

/// A to-many relationship whose members have an order.
///
/// Insertions and moves by several clients are all kept, and the server's order applies to all of them.
public struct OrderedToMany<Element: ManagedObject>: ToManyRelationship {
  public let owner: ManagedObject
  public let property: PropertyNumber

  /// The relationship of a number; generated classes call it.
  public init(_ owner: ManagedObject, _ property: PropertyNumber) { (self.owner, self.property) = (owner, property) }

  /// The member at a position.
  public subscript(position: Int) -> Element { known[position] }

  /// Adds an object at the end. A member moves there, unless the members are not known (`isKnown`).
  public func append(_ object: Element) {
    guard isKnown, let last = held.last(where: { $0.id != object.id }) else { return owner.add(object, to: property) }
    insert(object, after: last)
  }

  /// Inserts an object directly after a member, or at the beginning for nil; a member moves there. Nothing has to be
  /// loaded. If `other` is no member when the server applies it, the object goes to the end.
  public func insert(_ object: Element, after other: Element?) { owner.insert(object, into: property, after: other) }

  /// Inserts an object at a position; a member moves there.
  /// - Parameter position: in the list without the object, from 0 to its count.
  public func insert(_ object: Element, at position: Int) {
    let others = known.filter { $0.id != object.id }
    precondition(position >= 0 && position <= others.count, "the position \(position) is beyond the list's end")
    insert(object, after: position == 0 ? nil : others[position - 1])
  }

  /// Moves a member directly after another one, or to the beginning for nil; an object that is no member is ignored.
  public func move(_ object: Element, after other: Element?) { owner.move(object, in: property, after: other) }

  /// Moves a member to a position; an object that is no member is ignored.
  /// - Parameter position: in the list without the object, from 0 to its count.
  public func move(_ object: Element, to position: Int) { if contains(object) { insert(object, at: position) } }
}

extension ToManyRelationship {
  /// Whether the context knows the ids of all members. Faults may be among them.
  public var isKnown: Bool { owner.context.knowsMembers(of: owner, property) }

  /// Whether the context holds all members with their values.
  public var isLoaded: Bool { owner.isLoaded(property) }

  /// The members that the context holds: all of them where `isKnown` is true. It reports nothing.
  public var held: [Element] { owner.objects(property, Element.self) }

  var known: [Element] {
    owner.context.checkMembers(of: owner, property)
    return held
  }

  /// The number of members.
  public var count: Int {
    owner.context.checkMembers(of: owner, property)
    return owner.context.memberCount(of: owner, property)
  }

  /// Whether there are no members.
  public var isEmpty: Bool { count == 0 }

  /// The first member; without an order, the one with the lowest id.
  public var first: Element? { known.first }

  /// Iterates over the members.
  public func makeIterator() -> IndexingIterator<[Element]> { known.makeIterator() }

  /// Whether an object is a member. The answer is known if the object or the members are loaded.
  public func contains(_ object: Element) -> Bool { owner.context.contains(object, in: owner, property) }

  /// Removes an object, and updates the inverse.
  public func remove(_ object: Element) { owner.remove(object, from: property) }

  /// Loads the missing members, also for the objects that arrived with the owner: a loop over a list sends one request
  /// for each thousand objects.
  /// - Returns: all members, with their values.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  @discardableResult
  public nonisolated(nonsending) func load() async throws -> [Element] {
    if let load = owner.context.load(RelationshipTree([[property]]), of: owner) {
      try await owner.context.wait(for: load)
    }
    return held
  }
}
