import GraphModel

/// The members of a document. Unread ones are reported, so that nothing is lost silently.
struct KeepMemberReader {
  private(set) var remarks = [String]()
  private let json: JSON
  private let members: [JSON.Member]
  private var known = Set<String>()

  /// Members of list elements that contain nothing a note could store.
  private static let silent: [String: Set<String>] = [
    "attachments": ["mimetype"], "annotations": ["source"], "sharees": ["isOwner", "type"],
  ]
  /// Members of list elements that are read.
  private static let read: [String: Set<String>] = [
    "attachments": ["filePath"], "annotations": ["title", "url", "description"], "sharees": ["email"],
    "labels": ["name"], "listContent": ["text", "textHtml", "isChecked"],
  ]

  /// - Parameter members: the members of the document, an object.
  init(_ members: [JSON.Member]) { (json, self.members) = (.object(members), members) }

  mutating func markRead(_ name: String) { known.insert(name) }

  mutating func remark(_ sentence: String) { if !remarks.contains(sentence) { remarks.append(sentence) } }

  /// - Parameter what: the end of "the note was imported without".
  mutating func reportOmission(_ what: String) { remark("the note was imported without \(what)") }

  private mutating func reportOmission(_ name: String, _ value: JSON, expected: String) {
    reportOmission("its \(name): \(value.text.excerpt) is \(value.typeDescription), not \(expected)")
  }

  // MARK: - Of the note

  /// Returns a string; empty if it is missing or of another type.
  mutating func string(_ name: String) -> String {
    guard let value = value(name) else { return "" }
    if let string = value.stringValue { return string }
    reportOmission(name, value, expected: "a string")
    return ""
  }

  mutating func flag(_ name: String) -> Bool {
    guard let value = value(name) else { return false }
    if let flag = value.boolValue { return flag }
    reportOmission(name, value, expected: "a Boolean")
    return false
  }

  mutating func number(_ name: String) -> Int64? {
    guard let value = value(name) else { return nil }
    if let number = value.wholeNumber { return number }
    reportOmission(name, value, expected: "a whole number")
    return nil
  }

  /// Returns the objects of a list, and reports their members that are not read.
  mutating func objects(_ name: String) -> [[JSON.Member]] {
    guard let value = value(name) else { return [] }
    guard let items = value.arrayValue else {
      reportOmission(name, value, expected: "an array")
      return []
    }
    var objects = [[JSON.Member]]()
    for item in items {
      guard let members = item.members else {
        reportOmission(name, item, expected: "an object")
        continue
      }
      objects.append(members)
      let known = Self.read[name, default: []].union(Self.silent[name, default: []])
      for member in members where !known.contains(member.name) && !member.value.isVoid {
        reportOmission("the \(member.name.excerpt) of its \(name): \(member.value.text.excerpt)")
      }
    }
    return objects
  }

  private mutating func value(_ name: String) -> JSON? {
    known.insert(name)
    guard let value = json[name], value != .null else { return nil }
    return value
  }

  // MARK: - Of an object in a list

  /// Returns a string; empty if it is missing or of another type.
  mutating func string(_ name: String, of members: [JSON.Member], in list: String) -> String {
    guard let value = JSON.object(members)[name], value != .null else { return "" }
    if let string = value.stringValue { return string }
    reportOmission("\(name) in \(list)", value, expected: "a string")
    return ""
  }

  mutating func flag(_ name: String, of members: [JSON.Member], in list: String) -> Bool {
    guard let value = JSON.object(members)[name], value != .null else { return false }
    if let flag = value.boolValue { return flag }
    reportOmission("\(name) in \(list)", value, expected: "a Boolean")
    return false
  }

  // MARK: - The rest

  /// Reports each member that has content and was not read.
  mutating func reportUnread() {
    for member in members where !known.contains(member.name) && !member.value.isVoid {
      reportOmission("its \(member.name.excerpt): \(member.value.text.excerpt)")
    }
  }
}

extension JSON {
  /// The type of the value, with its article.
  var typeDescription: String {
    if self == .null { return "null" }
    if stringValue != nil { return "a string" }
    if boolValue != nil { return "a Boolean" }
    if arrayValue != nil { return "an array" }
    return members == nil ? "a number" : "an object"
  }

  /// The number, including `1.0` and `1e3`, if it is an integer of at most 64 bits.
  var wholeNumber: Int64? {
    if let integerValue { return integerValue }
    return typeDescription == "a number" ? Double(text).flatMap { Int64(exactly: $0) } : nil
  }

  /// Whether the value has no content: null, false, zero or empty.
  var isVoid: Bool {
    switch text {
    case "null", "false", "0", "\"\"", "[]", "{}": true
    default: false
    }
  }
}
