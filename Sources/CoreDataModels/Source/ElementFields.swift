import GraphModel

/// Reads the attributes of one XML element. Every attribute is read, is one that only Xcode uses, or is reported.
struct ElementFields {
  let element: XMLElement
  let subject: String
  private var used = Set<String>()

  init(_ element: XMLElement, subject: String) { (self.element, self.subject) = (element, subject) }

  private mutating func attribute(_ name: String) -> XMLElement.Attribute? {
    used.insert(name)
    return element.attributes.first { $0.name == name }
  }

  /// The text of an attribute; nil if it is missing.
  mutating func text(_ name: String) -> String? { attribute(name)?.value }

  /// The text of an attribute; nil if it is missing or empty.
  mutating func word(_ name: String) -> String? { text(name).flatMap { $0.isEmpty ? nil : $0 } }

  mutating func setting(_ name: String) -> CoreDataModel.Setting? {
    attribute(name).map { CoreDataModel.Setting(text: $0.value, place: $0.place) }
  }

  /// A name, which is required; empty if it is missing, which is reported.
  mutating func name(_ name: String, _ log: inout SourceLog) -> String {
    guard let text = word(name) else {
      log.mistake(element.place, "\(subject.isEmpty ? "this <\(element.name)>" : subject) has no \(name)")
      return ""
    }
    return text
  }

  mutating func flag(_ name: String, _ log: inout SourceLog) -> Bool {
    guard let attribute = attribute(name) else { return false }
    switch attribute.value {
    case "YES", "yes", "true", "1": return true
    case "NO", "no", "false", "0", "": return false
    default:
      log.mistake(attribute.place, "\(subject): \(name) is \"\(attribute.value.excerpt)\"; it must be YES or NO")
      return false
    }
  }

  mutating func count(_ name: String, _ log: inout SourceLog) -> Int? {
    guard let attribute = attribute(name) else { return nil }
    guard let number = Int(attribute.value), (0...1_000_000_000).contains(number) else {
      log.mistake(
        attribute.place,
        "\(subject): \(name) is \"\(attribute.value.excerpt)\"; it must be a whole number from 0 to 1000000000")
      return nil
    }
    return number
  }

  /// Reports an attribute that has no counterpart, unless its value is one of `usual`.
  mutating func leaveOut(_ name: String, unless usual: String..., because reason: String, _ log: inout SourceLog) {
    guard let attribute = attribute(name), !usual.contains(attribute.value) else { return }
    log.leaveOut(attribute.place, subject, "\(name)=\"\(attribute.value.excerpt)\": \(reason)")
  }

  /// Reports an attribute whose counterpart differs, if it has the value.
  mutating func change(_ name: String, from value: String, _ text: String, _ log: inout SourceLog) {
    if let attribute = attribute(name), attribute.value == value {
      log.add(.changed, attribute.place, subject, "\(name)=\"\(value)\": \(text)")
    }
  }

  /// Passes over attributes that only Xcode uses; the log lists them in one line.
  mutating func passOver(_ names: String..., log: inout SourceLog) {
    for name in names where attribute(name) != nil { log.passOver("\(element.name).\(name)") }
  }

  /// Reports the attributes that were not read.
  func finish(_ log: inout SourceLog) {
    for attribute in element.attributes where !used.contains(attribute.name) {
      log.leaveOut(
        attribute.place, subject,
        "\(attribute.name)=\"\(attribute.value.excerpt)\": this converter does not know it")
    }
  }
}

/// The findings and mistakes of one source file.
struct SourceLog {
  let file: String
  private(set) var findings = [ConversionFinding]()
  private(set) var mistakes = [CoreDataModelError.Mistake]()
  private var passedOver = [String]()

  init(file: String) { self.file = file }

  mutating func add(_ kind: ConversionFinding.Kind, _ place: SourcePlace, _ subject: String, _ text: String) {
    findings.append(ConversionFinding(kind: kind, file: file, place: place, subject: subject, text: text))
  }

  mutating func leaveOut(_ place: SourcePlace, _ subject: String, _ text: String) {
    add(.leftOut, place, subject, text)
  }

  mutating func mistake(_ place: SourcePlace, _ reason: String) {
    mistakes.append(CoreDataModelError.Mistake(file: file, place: place, reason: reason))
  }

  /// Remembers an attribute or element that has no meaning outside Xcode.
  mutating func passOver(_ name: String) {
    if !passedOver.contains(name) { passedOver.append(name) }
  }

  /// Adds the line about the parts that only Xcode uses.
  mutating func finishPassedOver(at place: SourcePlace) {
    guard !passedOver.isEmpty else { return }
    leaveOut(place, "", "these have no meaning outside Xcode: \(passedOver.sorted().joined(separator: ", "))")
    passedOver = []
  }
}
