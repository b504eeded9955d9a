// Tests: AuditLogTests.swift
import GraphModel

/// A line of the audit log.
public struct AuditEntry: Hashable, Sendable {
  /// The time of the event.
  public var time: Timestamp
  /// The kind of the event, such as `login`, `refused` or `grant`.
  public var event: String
  /// The id of the user, with its prefix; nil if the client did not prove who it is.
  public var user: String?
  /// The network address of the client, `local` for a Unix-domain socket; nil for a command on the server.
  public var address: String?
  /// The token that was used, or that was made or revoked, without its secret; nil for none.
  public var token: String?
  /// The missing right, the reason of a refusal, or the change that a command has made.
  public var text: String
  /// The number of similar events since the previous line that got no line of their own.
  public var omitted: Int

  /// Creates an entry.
  public init(
    _ event: String, at time: Timestamp, user: String? = nil, address: String? = nil, token: String? = nil,
    text: String = "", omitted: Int = 0
  ) {
    (self.event, self.time, self.user, self.address) = (event, time, user, address)
    (self.token, self.text, self.omitted) = (token, text, omitted)
  }

  /// The most bytes of a text in a line; a longer one is cut.
  static let maximumTextSize = 1_024

  /// The line as JSON. JSON escapes newlines, so that a text of a client can't add lines.
  public var json: JSON {
    var members = [JSON.Member("time", .string(RFC3339.text(time))), .init("event", .string(event))]
    if let user { members.append(.init("user", .string(user))) }
    if let address { members.append(.init("address", .string(address))) }
    if let token { members.append(.init("token", .string(token))) }
    if !text.isEmpty { members.append(.init("text", .string(Self.cut(text)))) }
    if omitted > 0 { members.append(.init("omitted", .integer(Int64(omitted)))) }
    return .object(members)
  }

  /// Reads a line.
  /// - Returns: nil if it is no line of an audit log.
  init?(line: some Collection<UInt8>) {
    guard let json = try? JSON(parsing: line), let event = json["event"]?.stringValue,
      let time = json["time"]?.stringValue.flatMap({ RFC3339.timestamp($0) })
    else { return nil }
    self.init(event, at: time)
    user = json["user"]?.stringValue
    address = json["address"]?.stringValue
    token = json["token"]?.stringValue
    if let text = json["text"]?.stringValue { self.text = text }
    if let omitted = json["omitted"]?.integerValue { self.omitted = Int(clamping: omitted) }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumTextSize else { return text }
    var (cut, size) = ("", 0)
    for character in text {
      size += character.utf8.count
      if size > maximumTextSize { break }
      cut.append(character)
    }
    return cut + "…"
  }
}
