import TerminalApplication
import TerminalCells
import Testing

/// A menu bar that is used with keys.
@Suite struct MenuTrackingTests {
  private let bar = Menu(
    "",
    [
      .submenu(
        Menu(
          "File",
          [
            .command(MenuCommand("Open", .open)), .separator,
            .submenu(Menu("Send", [.command(MenuCommand("Save", .save))])),
            .command(MenuCommand("Quit", .quit)),
          ])),
      .submenu(Menu("Edit", [.command(MenuCommand("Save All", .save)), .command(MenuCommand("Stop", .quit))])),
    ])

  /// Titles of what is chosen, from the bar down.
  private func place(_ tracking: MenuTracking) -> String {
    var titles = tracking.menus.map(\.menu.title)
    if let command = tracking.chosen { titles.append(command.title) }
    return titles.joined(separator: " > ")
  }

  private func walk(_ keys: [Key], state: CommandState = CommandState()) -> (place: String, last: MenuTrackingResult) {
    var tracking = MenuTracking(bar)
    var last = MenuTrackingResult.ignored
    for key in keys { last = tracking.key(KeyEvent(key)) { _ in state } }
    return (place(tracking), last)
  }

  @Test func arrowsSelectItemsAndSkipSeparators() {
    #expect(walk([]).place == "File")
    #expect(walk([.down]).place == "File > Open")
    #expect(walk([.down, .down]).place == "File > Send")
    #expect(walk([.down, .down, .down]).place == "File > Quit")
    #expect(walk([.down, .down, .down, .down]).place == "File > Open")
    #expect(walk([.up]).place == "File > Quit")
  }

  @Test func leftAndRightSwitchMenusAndOpenSubmenus() {
    #expect(walk([.right]).place == "Edit > Save All")
    #expect(walk([.left]).place == "Edit > Save All")
    #expect(walk([.right, .right]).place == "File > Open")
    #expect(walk([.down, .down, .right]).place == "File > Send > Save")
    #expect(walk([.down, .down, .right, .left]).place == "File > Send")
    #expect(walk([.down, .down, .right, .right]).place == "Edit > Save All")
  }

  @Test func returnPerformsEnabledCommand() {
    #expect(walk([.down, .enter]).last == .performed(.open))
    #expect(walk([.down, .enter]).place == "")
    #expect(walk([.down, .enter], state: .disabled).last == .moved)
    #expect(walk([.down, .enter], state: .disabled).place == "File > Open")
    #expect(walk([.enter]).place == "File > Open")
    #expect(walk([.down, .down, .enter, .enter]).last == .performed(.save))
  }

  @Test func escapeClosesOneLevel() {
    #expect(walk([.down, .down, .right, .escape]).place == "File > Send")
    #expect(walk([.down, .escape]).last == .closed)
    #expect(walk([.down, .down, .right, .menu]).last == .closed)
    #expect(walk([.escape, .down]).last == .ignored)
  }

  @Test func lettersSelectNextMatchingItem() {
    #expect(walk([.right, .character("s")]).place == "Edit > Stop")
    #expect(walk([.right, .character("S"), .character("s")]).place == "Edit > Save All")
    #expect(walk([.character("q")]).place == "File > Quit")
    #expect(walk([.down, .character("z")]).place == "File > Open")
    #expect(walk([.down, .pageDown]).last == .ignored)
  }

  @Test func emptyMenuBarDoesNotOpen() {
    #expect(!MenuTracking(Menu("", [])).isOpen)
    #expect(!MenuTracking(bar, open: 2).isOpen)
    var bare = MenuTracking(Menu("", [.submenu(Menu("File", []))]))
    #expect(bare.key(KeyEvent(.down)) { _ in .disabled } == .moved)
    #expect(bare.key(KeyEvent(.up)) { _ in .disabled } == .moved)
    #expect(bare.path == [0])
  }
}
