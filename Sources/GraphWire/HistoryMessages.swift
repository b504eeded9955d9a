import GraphModel

/// A request to history other than the log.
public enum ChangesRequest: Hashable, Sendable {
  /// Commits after a token; answered by one message, `followed`.
  case follow(FollowRequest)
  /// The differences of two states; answered by chunks, `differences`.
  case differences(DifferenceRequest)
}

extension ToServer.Body {
  /// The newest commits after `after` and up to `through`; 0 is the head.
  public static func log(after: Revision, limit: UInt64, through: Revision) -> Self {
    .log(LogRequest(after: after, limit: limit, through: through))
  }
}

// MARK: - Binary form

/// `message Changes { oneof question { Follow follow = 1; Differences differences = 2; } }`
extension ChangesRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    switch self {
    case .follow(let follow): writer.field(1, follow)
    case .differences(let differences): writer.field(2, differences)
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var request: Self?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: request = .follow(try field.form())
      case 2: request = .differences(try field.form())
      default: break
      }
    }
    guard let request else { throw MalformedMessage("a request for changes does not specify them") }
    self = request
  }
}

extension ToServer {
  /// `message Why { ObjectID object = 1; uint32 property = 2; }`
  static func why(_ field: BinaryReader.Field) throws(MalformedMessage) -> Body {
    var (id, property): (ObjectID?, PropertyNumber) = (nil, 0)
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 { id = try field.form() }
      if number == 2 { property = try field.uint32() }
    }
    guard let id else { throw MalformedMessage("a question for a value names no object") }
    return .why(id, property)
  }
}

extension ToClient {
  /// `message Followed { repeated CommitEntry commits = 1; Token at = 2; Token head = 3; }`
  static func followed(_ field: BinaryReader.Field) throws(MalformedMessage) -> Body {
    var (commits, at, head): ([CommitEntry], Token?, Token?) = ([], nil, nil)
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 { commits.append(try field.form()) }
      if number == 2 { at = try field.form() }
      if number == 3 { head = try field.form() }
    }
    guard let at, let head else { throw MalformedMessage("an answer with commits has no tokens") }
    return .followed(commits, at: at, head: head)
  }

  /// `message DifferenceChunk { repeated Difference differences = 1; bool last = 2; }`
  static func differences(_ field: BinaryReader.Field) throws(MalformedMessage) -> Body {
    var (differences, last): ([ObjectDifference], Bool) = ([], false)
    var inner = try field.reader()
    while let (number, field) = try inner.next() {
      if number == 1 { differences.append(try field.form()) }
      if number == 2 { last = try field.bool() }
    }
    return .differences(differences, last: last)
  }
}
