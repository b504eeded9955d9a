import Testing

@testable import CoreDataModels

@Suite struct XMLReaderTests {
  private func parse(_ text: String) throws(XMLError) -> XMLElement { try XMLReader.parse(Array(text.utf8)) }

  /// The message for a document that is refused.
  private func message(_ bytes: [UInt8], allowsDoctype: Bool = false) throws -> String {
    let error = #expect(throws: XMLError.self) { try XMLReader.parse(bytes, allowsDoctype: allowsDoctype) }
    let found = try #require(error)
    return "\(found.place.line):\(found.place.column): \(found.reason)"
  }

  private func message(_ text: String) throws -> String { try message(Array(text.utf8)) }

  @Test func elementsHaveAttributesTextAndPlaces() throws {
    let root = try parse(
      "<?xml version='1.0' encoding='utf-8'?>\n<!-- c --><a x=\"1\"\n  y='two'>t<b/>u<![CDATA[<&>]]></a>\n")
    #expect(root.name == "a" && root.place == SourcePlace(line: 2, column: 11))
    #expect(root.attributes.map(\.name) == ["x", "y"] && root.attributes.map(\.value) == ["1", "two"])
    #expect(root.attributes[1].place == SourcePlace(line: 3, column: 3))
    #expect(root.children.map(\.name) == ["b"] && root.children[0].place == SourcePlace(line: 3, column: 12))
    #expect(root.text == "tu<&>")
  }

  @Test func referencesAreCharacters() throws {
    let root = try parse("<a x=\"&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&#10;\">&#x41;&amp;lt;</a>")
    #expect(root.attributes[0].value == "<>&\"'A😀\n")
    #expect(root.text == "A&lt;")
  }

  @Test func lineEndsAreReadAsXMLDemands() throws {
    let root = try parse("<a x=\"1\r\n2\t3\n4\">\r\nb\rc\n</a>")
    #expect(root.attributes[0].value == "1 2 3 4")
    #expect(root.text == "\nb\nc\n")
    let places = try parse("<a>\r<b/>\r\n<c/>\n\r<d/></a>").children.map(\.place.line)
    #expect(places == [2, 3, 5])
  }

  @Test func byteOrderMarkIsSkipped() throws {
    let root = try XMLReader.parse([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8))
    #expect(root.name == "a")
    let declared = try XMLReader.parse([0xEF, 0xBB, 0xBF] + Array("<?xml version=\"1.0\"?><a/>".utf8))
    #expect(declared.name == "a")
  }

  @Test func namesMayBeOfAnyScript() throws {
    let root = try parse("<größe _x:y-1.2=\"ä\"/>")
    #expect(root.name == "größe" && root.attributes[0].name == "_x:y-1.2" && root.attributes[0].value == "ä")
  }

  @Test(arguments: [
    ("", "1:1: there is no element in the file"),
    ("  text", "1:3: text must be within an element"),
    ("<a>", "1:1: <a> is not closed: the file ends at line 1, column 4"),
    ("<a>\n<b></a>", "2:4: </a> does not close <b> of line 2"),
    ("</a>", "1:1: </a> closes no element"),
    ("<a/><b/>", "1:5: a document has one outermost element"),
    ("<a/>x", "1:5: text must be within an element"),
    ("<a x=1/>", "1:6: a value in quotation marks is expected here"),
    ("<a x/>", "1:5: = is expected here: an attribute is written name=\"value\""),
    ("<a x=\"1\"y=\"2\"/>", "1:9: a blank or > is expected here"),
    ("<a x=\"1\" x=\"2\"/>", "1:10: <a> has x twice"),
    ("<a x=\"1", "1:6: this value is not closed"),
    ("<a x=\"<\"/>", "1:7: < must be written &lt; in a value"),
    ("<a x=\"&nbsp;\"/>", "1:7: &nbsp; is not one of lt, gt, amp, quot, apos; & must be written &amp;"),
    ("<a>a & b</a>", "1:6: & must be written &amp;"),
    ("<a>&#0;</a>", "1:4: &#0; is not a character"),
    ("<a>&#xD800;</a>", "1:4: &#xD800; is not a character"),
    ("<a>&#-5;</a>", "1:4: &#-5; is not a character"),
    ("<a>]]></a>", "1:4: ]]> must be written ]]&gt;"),
    ("<a><!-- -- --></a>", "1:4: a comment can't contain --"),
    ("<a><!-- ", "1:4: this comment is not closed"),
    ("<a><![CDATA[", "1:4: this CDATA section is not closed"),
    ("<a", "1:1: <a> ends within its tag"),
    ("<1/>", "1:2: an element's name is expected here"),
    ("<a>\u{1}</a>", "1:4: XML allows no control character here"),
    ("<!DOCTYPE a><a/>", "1:1: a document type declaration is not allowed here: a model of Xcode has none"),
    ("<?xml version=\"1.0\" encoding=\"latin1\"?><a/>", "1:1: the file declares the encoding latin1; save it in UTF-8"),
  ])
  func mistakeHasItsPlace(text: String, expected: String) throws {
    #expect(try message(text) == expected)
  }

  @Test func otherEncodingsAreRefused() throws {
    #expect(try message([0xFF, 0xFE, 0x3C, 0]) == "1:1: the file is in UTF-16; save it in UTF-8")
    #expect(try message(Array("<a>\n<b x=\"".utf8) + [0xE4, 0x22]) == "2:7: the file is not UTF-8 here")
    #expect(try message(Array("bplist00".utf8)).contains("binary property list"))
  }

  @Test func declarationOfEntitiesIsRefused() throws {
    let bomb = Array("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>".utf8)
    #expect(try message(bomb, allowsDoctype: true) == "1:13: declarations of entities are not allowed")
    let list = Array("<!DOCTYPE plist PUBLIC \"-//A//B\" \"http://example.org/x.dtd\"><plist/>".utf8)
    #expect(try XMLReader.parse(list, allowsDoctype: true).name == "plist")
    #expect(try message(Array("<a/><!DOCTYPE a>".utf8), allowsDoctype: true).hasPrefix("1:5: "))
  }

  @Test func depthAndSizeHaveLimits() throws {
    let depth = XMLReader.maximumDepth
    let fits = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(try parse(fits).name == "a")
    #expect(
      try message(String(repeating: "<a>", count: 1_000_000))
        == "1:\(3 * depth + 1): elements are nested deeper than \(depth)")
    let many = (0...XMLReader.maximumAttributes).map { " a\($0)=\"\"" }.joined()
    #expect(try message("<a\(many)/>").hasSuffix("<a> has more than \(XMLReader.maximumAttributes) attributes"))
    let large = [UInt8](repeating: 0x20, count: XMLReader.maximumSize + 1)
    #expect(try message(large) == "1:1: the file has \(large.count) bytes; at most \(XMLReader.maximumSize) are read")
  }

  /// A document that is cut anywhere is refused, and never traps.
  @Test func cutDocumentIsRefused() throws {
    let text = "<?xml version=\"1.0\"?><!-- c --><a x=\"&amp;ä\"><b><![CDATA[c]]>&#65;</b></a>"
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count {
      #expect(throws: XMLError.self, "the first \(count) bytes") { try XMLReader.parse(Array(bytes.prefix(count))) }
    }
    #expect(try XMLReader.parse(bytes).children.map(\.text) == ["cA"])
  }
}
