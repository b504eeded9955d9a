/// A request to restore a past state, as a transaction of its own. The server builds it from history: deleted objects
/// are revived under their own ids, existing ones get back their earlier values.
public struct RestoreRequest: Hashable, Sendable {
  /// The part of the graph to restore.
  public enum Scope: Hashable, Sendable {
    /// A single object; newer objects stay.
    case object(ObjectID)
    /// An object and its contents, which a delete of it would have cascaded to. Newer objects stay.
    case contents(ObjectID)
    /// The complete graph; newer objects are deleted.
    case everything
  }

  /// The idempotency key of the new transaction.
  public var id: TransactionID
  /// The part of the graph to restore.
  public var scope: Scope
  /// The state to restore, 0 for the empty graph; nil for a deleted object's state just before its delete.
  public var revision: Revision?

  /// Creates a request, by default for the state before the object's delete.
  public init(_ id: TransactionID, _ scope: Scope, at revision: Revision? = nil) {
    self.id = id
    self.scope = scope
    self.revision = revision
  }
}

/// `enum RestoreScope { OBJECT = 0; CONTENTS = 1; EVERYTHING = 2; }
/// message Restore { TransactionID id = 1; optional int64 revision = 2; RestoreScope scope = 3; ObjectID object = 4; }`
extension RestoreRequest: BinaryCodable {
  private enum Kind: UInt8 { case object, contents, everything }

  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    // Revision 0 is a state, so it must be distinguishable from nil.
    if let revision { writer.field(2, revision, always: true) }
    switch scope {
    case .object(let object): writer.field(4, object)
    case .contents(let object):
      writer.field(3, UInt64(Kind.contents.rawValue))
      writer.field(4, object)
    case .everything: writer.field(3, UInt64(Kind.everything.rawValue))
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (id, revision, kind, object): (TransactionID?, Revision?, Kind, ObjectID?) = (nil, nil, .object, nil)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: revision = try field.integer()
      case 3: kind = try field.choice()
      case 4: object = try field.form()
      default: break
      }
    }
    guard let id else { throw MalformedMessage("a restore has no transaction id") }
    // A missing object must not be read as a request for the complete graph.
    guard kind == .everything || object != nil else { throw MalformedMessage("a restore names no object") }
    let scope: Scope =
      switch (kind, object) {
      case (.object, let object?): .object(object)
      case (.contents, let object?): .contents(object)
      default: .everything
      }
    self.init(id, scope, at: revision)
  }
}
