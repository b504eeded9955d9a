import StickiesFiles
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MacStickiesTests {
  private struct Parts: Encodable {
    var Red = 0.996078431372549
    var Green = 0.9568627450980393
    var Blue = 0.611764705882353
    var Alpha = 1.0
  }

  /// A window as macOS writes it.
  private struct Entry: Encodable {
    var UUID: String
    var Frame = "{{8, 1110}, {300, 200}}"
    var ExpandedSize = "{300, 200}"
    var ExpandFrameY = 0
    var Floating = false
    var Translucent = false
    var SpellCheckingTypes = 9191
    var StickyColor = Parts()
  }

  private static func list(
    _ entries: [Entry], _ format: PropertyListDecoder.PropertyListFormat = .xml
  ) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    return Array(try encoder.encode(entries))
  }

  @Test(arguments: [PropertyListDecoder.PropertyListFormat.xml, .binary])
  func windowHasColorPositionAndSize(format: PropertyListDecoder.PropertyListFormat) throws {
    let entries = [
      Entry(UUID: "A"),
      Entry(
        UUID: "B", Frame: "{{-20.5, 700}, {360, 18}}", ExpandedSize: "{360, 240}", Floating: true,
        StickyColor: Parts(Red: 0.68, Green: 0.95, Blue: 1)),
    ]
    let windows = try MacStickies(parsing: Self.list(entries, format)).windows
    #expect(windows.count == 2)
    let (one, two) = (try #require(windows["A"]), try #require(windows["B"]))
    #expect([one.x, one.y, one.width, one.height] == [8, 0, 300, 200])
    #expect(one.color == .yellow)
    #expect(!one.isFloating)
    // The top edge of this note is at 718, the top edge of the other one at 1310.
    #expect([two.x, two.y, two.width, two.height] == [-20.5, 592, 360, 240])
    #expect(two.color == .blue)
    #expect(two.isFloating)
  }

  @Test(arguments: [
    "{{8, 1110} {300, 200}}", "{{8, 1110}, {300, 200}", "{{8, 1110}, {300, 200}}x", "{{8, }, {300, 200}}",
    "{{nan, 1}, {300, 200}}", "{{8, 1e99}, {300, 200}}", "{{0x8, 1}, {300, 200}}", "", "{{٨, 1}, {300, 200}}",
  ])
  func invalidFrameDropsOnlyThePosition(frame: String) throws {
    let windows = try MacStickies(parsing: Self.list([Entry(UUID: "A", Frame: frame), Entry(UUID: "B")])).windows
    let window = try #require(windows["A"])
    #expect(window.x == nil && window.y == nil && window.width == nil)
    #expect(window.color == .yellow)
    #expect(windows["B"]?.x == 8)
  }

  @Test func valueOfOtherTypeIsIgnored() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><array>
      <string>no window</string>
      <dict><key>UUID</key><integer>4</integer></dict>
      <dict><key>UUID</key><string>A</string><key>Frame</key><integer>4</integer>
        <key>StickyColor</key><dict><key>Red</key><real>2</real><key>Green</key><real>0</real></dict></dict>
      </array></plist>
      """
    let windows = try MacStickies(parsing: Array(text.utf8)).windows
    #expect(windows.count == 1)
    let window = try #require(windows["A"])
    #expect(window.color == nil && window.x == nil && window.height == nil && !window.isFloating)
  }

  @Test func invalidListIsReported() throws {
    func message(_ bytes: [UInt8]) -> String {
      do {
        _ = try MacStickies(parsing: bytes)
        return "taken"
      } catch {
        return error.description
      }
    }
    #expect(message([]) == "it is not a property list")
    #expect(message(Array("( a, b )".utf8)) == "it is not a property list")
    #expect(message(Array("<plist><dict/></plist>".utf8)) == "it is not a property list of windows")
    #expect(message(Array("<plist><array>".utf8)) == "it is not a property list of windows")
    let deep = "<plist>" + String(repeating: "<array>", count: 200_000)
    #expect(message(Array(deep.utf8)) == "its lists are nested too deeply")
    let open = String(repeating: "<a</a", count: 1_000_000) + ">"
    #expect(message(Array(open.utf8)) == "it is not a property list of windows")
    #expect(
      message(Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 40)) == "it is not a property list of windows")
    let whole = try Self.list([Entry(UUID: "A"), Entry(UUID: "B")], .binary)
    #expect(message(whole) == "taken")
    for place in stride(from: 8, to: whole.count, by: 1) {
      var broken = whole
      broken[place] ^= 0x55
      _ = message(broken)
    }
    for count in 0..<whole.count { #expect(message(Array(whole.prefix(count))) != "taken") }
    #expect(
      message([UInt8](repeating: 0x20, count: MacStickies.maximumSize + 1))
        == "it has 16777217 bytes; at most 16777216 are allowed")
  }

  @Test(arguments: [
    (1.0, 1.0, 1.0, NoteColor.white), (0.93, 0.93, 0.93, .gray), (0.5, 0.5, 0.5, .gray), (0.996, 0.957, 0.612, .yellow),
    (0.68, 0.96, 1, .blue), (0.7, 1, 0.63, .green), (1, 0.78, 0.78, .pink), (0.71, 0.79, 1, .purple), (1, 0, 0, .red),
    (1, 0.7, 0.3, .orange), (0.6, 0.4, 0.2, .brown), (0.2, 0.7, 0.65, .teal),
  ])
  func colorMapsToNearestOfPalette(red: Double, green: Double, blue: Double, color: NoteColor) {
    #expect(MacStickies.nearest(.init(red: red, green: green, blue: blue)) == color)
  }
}
