import GraphModel

/// A note of Google Keep, as Takeout exports it: one JSON document.
///
/// Each member with content becomes part of the note, or a remark reports it. If a member has the wrong type, it is
/// dropped with a remark; the note is still imported. Only the creation time is required, because it identifies the
/// document as a note.
public struct KeepNote: Sendable {
  /// The error of a document that is not a note.
  public struct ParseError: Error, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// The title, an empty line, the text or list, and saved links.
  public private(set) var text = ""
  /// The text as earlier releases imported it: the title, and either the plain text or the list.
  public private(set) var plainText = ""
  /// The unmodified `createdTimestampUsec`. Several notes can have the same.
  public private(set) var identity: Int64
  /// The creation time; nil if the document contains no usable time.
  public private(set) var created: Timestamp?
  /// The time of the last edit; `created` if the document contains no usable time.
  public private(set) var updated: Timestamp?
  /// The nearest color of the palette.
  public private(set) var color = NoteColor.white
  /// Whether the note is pinned.
  public private(set) var isPinned = false
  /// Whether the note is archived.
  public private(set) var isArchived = false
  /// Whether the note is in the trash; its text is then not read.
  public private(set) var isTrashed = false
  /// The names of its labels, without empty ones.
  public private(set) var labels = [String]()
  /// Descriptions of lost content, each a complete sentence.
  public private(set) var remarks = [String]()

  /// Keep's colors, with the nearest of ours.
  private static let colors: [String: NoteColor] = [
    "DEFAULT": .white, "RED": .red, "ORANGE": .orange, "YELLOW": .yellow, "GREEN": .green, "TEAL": .teal,
    "BLUE": .blue, "CERULEAN": .blue, "PURPLE": .purple, "PINK": .pink, "BROWN": .brown, "GRAY": .gray,
  ]

  /// Parses a document.
  /// - Throws: `ParseError` if it is not a note of Keep.
  public init(_ json: JSON) throws(ParseError) {
    let time = "createdTimestampUsec"
    guard let document = json.members else {
      throw ParseError(description: "this is not a Google Keep note: it is \(json.typeDescription), not an object")
    }
    guard let member = json[time] else {
      throw ParseError(description: "this is not a Google Keep note: \(time) is missing")
    }
    guard let number = member.wholeNumber else {
      let value = member.text.excerpt
      throw ParseError(
        description: "\(time) is \(value), \(member.typeDescription); a whole number of microseconds is needed")
    }
    identity = number
    var members = KeepMemberReader(document)
    members.markRead(time)
    isTrashed = members.flag("isTrashed")
    guard !isTrashed else { return }
    readTimes(&members)
    isPinned = members.flag("isPinned")
    isArchived = members.flag("isArchived")
    readColor(&members)
    readText(&members)
    labels = members.objects("labels").map { members.string("name", of: $0, in: "labels") }.filter { !$0.isEmpty }
    readAttachments(&members)
    readPeople(&members)
    members.reportUnread()
    remarks = members.remarks
  }

  // MARK: - Members

  private mutating func readTimes(_ members: inout KeepMemberReader) {
    /// Keep writes 0 for an unknown time.
    func usable(_ time: Int64?) -> Timestamp? { time.flatMap { $0 > 0 && RFC3339.range.contains($0) ? $0 : nil } }
    let edited = members.number("userEditedTimestampUsec")
    created = usable(identity) ?? usable(edited)
    updated = usable(edited) ?? created
    if usable(identity) == nil { members.reportOmission("its creation time: \(identity) is invalid") }
    if let edited, edited > 0, usable(edited) == nil {
      members.reportOmission("its last edit time: \(edited) is invalid")
    }
  }

  private mutating func readColor(_ members: inout KeepMemberReader) {
    let name = members.string("color")
    guard !name.isEmpty else { return }
    guard let known = Self.colors[name] else {
      return members.remark("the note was imported in white: \"\(name.excerpt)\" is not a Keep color")
    }
    color = known
  }

  private mutating func readText(_ members: inout KeepMemberReader) {
    let title = members.string("title")
    let plain = members.string("textContent")
    let html = members.string("textContentHtml")
    let formatted = HTMLText(html)
    var formats = formatted.formats
    var addresses = formatted.addresses
    var images = formatted.images
    let items = members.objects("listContent").map { item in
      let isChecked = members.flag("isChecked", of: item, in: "listContent")
      var words = members.string("text", of: item, in: "listContent")
      let formatted = HTMLText(members.string("textHtml", of: item, in: "listContent"))
      if words.isEmpty { words = formatted.text }
      if !Self.isSame(words, formatted) {
        members.reportOmission("the textHtml of its listContent, which is not its text: \(formatted.text.excerpt)")
      }
      formats.formUnion(formatted.formats)
      addresses += formatted.addresses
      images += formatted.images
      return "- [\(isChecked ? "x" : " ")] \(words)"
    }
    let list = items.joined(separator: "\n")
    plainText = Self.paragraphs([title, items.isEmpty ? plain : list])
    text = Self.paragraphs([title, plain.isEmpty ? formatted.text : plain, list])
    if !plain.isEmpty, !Self.isSame(plain, formatted) {
      members.reportOmission("its textContentHtml, which is not its textContent: \(formatted.text.excerpt)")
    }
    addLinks(&members, addresses)
    if !images.isEmpty {
      members.reportOmission("the images of its text that have no description: \(images.joined(separator: ", "))")
    }
    if !formats.isEmpty {
      let names = HTMLText.Format.allCases.filter(formats.contains).map(\.rawValue)
      members.reportOmission("its formatting: \(names.joined(separator: ", "))")
    }
  }

  /// Whether formatted text has nothing that the plain text lacks: no letters or the same ones, and only digits and
  /// emoji that the plain text has, too. White space and the marks of lists differ.
  private static func isSame(_ plain: String, _ formatted: HTMLText) -> Bool {
    func letters(_ text: String) -> [Unicode.Scalar] { text.unicodeScalars.filter(\.properties.isAlphabetic) }
    func signs(_ text: String) -> [Unicode.Scalar] {
      text.unicodeScalars.filter { scalar in
        // The digits of a numbered list may be its marks.
        let isDigit = scalar.properties.numericType != nil && !formatted.hasNumberedItems
        return isDigit || scalar.properties.isEmojiPresentation
      }
    }
    let wanted = letters(formatted.text)
    guard wanted.isEmpty || wanted == letters(plain) else { return false }
    var rest = signs(plain)[...]
    return signs(formatted.text).allSatisfy { sign in
      guard let place = rest.firstIndex(of: sign) else { return false }
      rest = rest[(place + 1)...]
      return true
    }
  }

  private static func paragraphs(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private mutating func readAttachments(_ members: inout KeepMemberReader) {
    let attachments = members.objects("attachments")
    guard !attachments.isEmpty else { return }
    let names = attachments.map { members.string("filePath", of: $0, in: "attachments") }
    let shown = names.map { $0.isEmpty ? "without a name" : $0 }.joined(separator: ", ")
    members.reportOmission("its attachment \(shown)")
  }

  private mutating func readPeople(_ members: inout KeepMemberReader) {
    let people = members.objects("sharees").map { person in
      let name = members.string("email", of: person, in: "sharees")
      return (name.isEmpty ? JSON.object(person).text.excerpt : name) + (isOwner(person) ? " (owner)" : "")
    }
    func isOwner(_ person: [JSON.Member]) -> Bool { JSON.object(person)["isOwner"]?.boolValue == true }
    if !people.isEmpty { members.reportOmission("the people it is shared with: \(people.joined(separator: ", "))") }
  }

  // MARK: - Saved links

  /// Appends each saved link: its title, address and description, unless the text contains them.
  private mutating func addLinks(_ members: inout KeepMemberReader, _ addresses: [String]) {
    var links = SavedLinks(besides: text)
    for link in members.objects("annotations") {
      links.add(["title", "url", "description"].map { members.string($0, of: link, in: "annotations") })
    }
    for address in addresses { links.add([address]) }
    text = Self.paragraphs([text] + links.paragraphs)
  }
}
