// Tests: LiveSequenceTests.swift
import GraphControllers
import GraphModel
import GraphReplica

/// The effect of the commits between two snapshots: sections and objects with their positions before and after.
public typealias LiveDifference = ResultsDifference

/// The objects of a live query as of one revision, in order and in sections.
///
/// A snapshot is a collection of its objects, and keeps them with the objects that were prefetched for them. Their
/// number and order do not change; their values are the context's, with later commits and unsaved edits.
public struct LiveSnapshot<Object: ManagedObject>: RandomAccessCollection {
  let rows: ResultsSnapshot
  fileprivate let members: SnapshotMembers<Object>
  /// The changes since the previous snapshot of the same reader; nil in the first. If the reader was busy during
  /// several commits, these are combined.
  public let difference: LiveDifference?
  /// The number of objects of the query before offset and limit.
  public let totalCount: Int

  init(_ rows: ResultsSnapshot, _ members: SnapshotMembers<Object>, difference: LiveDifference?, totalCount: Int) {
    (self.rows, self.members, self.difference, self.totalCount) = (rows, members, difference, totalCount)
  }

  /// The revision that the snapshot shows: the revision of the last commit that changed it, or of the load.
  public var revision: Revision { rows.revision }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { rows.count }

  /// The object at an index, in logarithmic time.
  public subscript(position: Int) -> Object { members.object(rows[position]) }

  /// The ids of the objects, in order.
  public var ids: some RandomAccessCollection<ObjectID> { rows }

  /// The sections, in order; one with all objects if the query has no section key.
  public var sections: [LiveSection<Object>] {
    rows.sections.map { LiveSection(rows: $0, members: members) }
  }

  /// Iterates in constant time for each object.
  public func makeIterator() -> AnyIterator<Object> {
    var ids = rows.makeIterator()
    return AnyIterator { ids.next().map { members.object($0) } }
  }
}

/// A section of a snapshot, as a collection of its objects.
public struct LiveSection<Object: ManagedObject>: RandomAccessCollection {
  fileprivate let rows: ResultsSection
  fileprivate let members: SnapshotMembers<Object>

  /// The value that its objects share; nil for a query without sections. `name?.text` is the text of a header.
  public var name: Value? { rows.name }
  /// The number of objects in earlier sections.
  public var offset: Int { rows.offset }
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { rows.count }

  /// The object at an index, in logarithmic time.
  public subscript(position: Int) -> Object { members.object(rows[position]) }
}

/// The objects of a snapshot, and the reference that keeps the objects that were prefetched for them.
struct SnapshotMembers<Object: ManagedObject> {
  let objects: [ObjectID: Object]
  let companions: AnyObject?

  /// The object of a row.
  func object(_ id: ObjectID) -> Object {
    guard let object = objects[id] else { preconditionFailure("a snapshot keeps the objects of its rows") }
    return object
  }
}
