/// Asks for what was there at a revision to be there again, as a transaction of its own. The server makes it from history:
/// objects that are gone come back under their own ids, those that are there get back the values they had.
public struct RestoreRequest: Hashable, Sendable {
  /// How much is to be as it was.
  public enum Scope: Hashable, Sendable {
    /// One object; what was made since stays.
    case object(ObjectID)
    /// An object with everything that was in it: what its delete would have taken along. What was made since stays.
    case contents(ObjectID)
    /// The whole graph; what was made since is deleted.
    case everything
  }

  /// The idempotency key of the transaction.
  public var id: TransactionID
  /// How much is to be as it was.
  public var scope: Scope
  /// The state to go back to, 0 for the empty graph; nil, for an object that is gone: the one just before its delete.
  public var revision: Revision?

  /// An object as it was before its delete, unless a revision is given.
  public init(_ id: TransactionID, _ scope: Scope, at revision: Revision? = nil) {
    self.id = id
    self.scope = scope
    self.revision = revision
  }
}

/// `enum RestoreScope { OBJECT = 0; CONTENTS = 1; EVERYTHING = 2; }
/// message Restore { TransactionID id = 1; optional int64 revision = 2; RestoreScope scope = 3; ObjectID object = 4; }`
extension RestoreRequest: BinaryForm {
  private enum Kind: UInt8 { case object, contents, everything }

  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    // 0 is a state, and must not be taken for none.
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
    // Nobody who forgot the object means the whole graph.
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
