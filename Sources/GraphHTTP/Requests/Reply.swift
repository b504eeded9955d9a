import GraphModel
import GraphWire
import HTTPTypes
import NIOCore

/// The answer to a request.
struct Reply: Sendable {
  /// The content of an answer.
  enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// Content that is produced while it is sent. An error breaks the connection, so that the client does not mistake a
    /// part for the complete answer.
    case stream(@Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void)
  }

  var status: HTTPResponse.Status
  var fields = HTTPFields()
  var body: Body

  init(_ status: HTTPResponse.Status, _ body: Body, type: String? = nil) {
    (self.status, self.body) = (status, body)
    if let type { fields[.contentType] = type }
  }

  static func json(_ status: HTTPResponse.Status, _ json: JSON) -> Reply {
    var bytes = [UInt8]()
    json.write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return Reply(status, .bytes(bytes), type: "application/json")
  }

  static func problem(_ problem: Problem) -> Reply {
    var reply = Reply.json(problem.status, problem.json)
    reply.fields[.contentType] = "application/problem+json"
    for field in problem.fields { reply.fields[field.name] = field.value }
    return reply
  }
}

/// Entity tags. The tag of an object is its revision; the tag of a list is the revision at which it was read.
///
/// An answer to a user with rights also depends on the user's grants, and a reference in it on the object at the other
/// end. The tags of such answers continue with a hash of the content.
enum EntityTag {
  static func object(_ revision: Revision) -> String { "\"\(revision)\"" }

  static func list(_ revision: Revision) -> String { "\"R\(revision)\"" }

  /// The tag of an answer whose content does not follow from the revision alone.
  static func tag(_ tag: String, of content: [UInt8]) -> String {
    let hash = SHA256.hash(content).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return "\(tag.dropLast()).\(String(hash, radix: 16))\""
  }

  /// Whether a field with a list of tags, or `*`, matches a tag. Weak tags match, too: a proxy makes tags weak when it
  /// compresses an answer.
  static func matches(_ field: String, _ tag: String) -> Bool {
    field.split(separator: ",").contains { part in
      var text = part.drop { $0 == " " || $0 == "\t" }
      while let last = text.last, last == " " || last == "\t" { text.removeLast() }
      if text == "*" { return true }
      if text.hasPrefix("W/") { text = text.dropFirst(2) }
      return UTF8Comparison.equal(String(text), tag)
    }
  }

  /// The revision in `If-Match`; nil for `*`, which any existing object matches.
  /// - Throws: `Problem` for a tag that can't be one of an object of this server.
  static func revision(ifMatch field: String) throws(Problem) -> Revision? {
    var text = Substring(field.drop { $0 == " " })
    while text.last == " " { text.removeLast() }
    if text == "*" { return nil }
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      // A hash of the content behind the revision does not concern a write.
      let number = text.dropFirst().dropLast().prefix { $0 != "." }
      if let revision = Revision(number), revision > 0, UTF8Comparison.equal("\(revision)", String(number)) {
        return revision
      }
    }
    // A tag of a list, or of another server, matches no object.
    if text.count > 1, text.hasPrefix("\""), text.hasSuffix("\""), !text.dropFirst().dropLast().contains("\"") {
      throw Problem(.preconditionFailed, "conflict", "the object does not have the tag \(field.excerpt)")
    }
    throw .malformed("If-Match is \(field.excerpt); it must be one tag of an object, \"REVISION\", or *")
  }
}
