import TerminalApplication
import TerminalCells
import Testing

/// Every command is in the menu with its key, and no key stands for two.
@Suite struct MenuTests {
  private func item(_ title: String, _ command: Command, _ key: Key?, _ modifiers: Modifiers = []) -> MenuItem {
    .command(MenuCommand(title, command, key.map { KeyEquivalent($0, modifiers) }))
  }

  @Test func validMenuBarHasNoProblems() {
    #expect(ApplicationTranscript.menuBar.problems(commands: [.open, .save, .quit]) == [])
    #expect(ApplicationTranscript.menuBar.commands.map(\.title) == ["Open", "Save", "Quit"])
  }

  @Test func everyCommandNeedsAnItemAndEveryItemAKey() {
    let menu = Menu("", [.submenu(Menu("File", [item("Open", .open, nil)]))])
    #expect(
      menu.problems(commands: [.open, .save]) == [
        "the command 'save' is in no menu; add an item for it", "'Open' has no key; give it one",
      ])
  }

  @Test func noKeyIsBoundTwice() {
    let menu = Menu(
      "",
      [
        .submenu(Menu("File", [item("Open", .open, .character("s"), .control), .separator])),
        .submenu(Menu("Edit", [item("Save", .save, .character("s"), .control), item("Quit", .quit, .character("s"))])),
      ])
    #expect(menu.problems(commands: []) == ["Ctrl-S is the key of 'Open' and 'Save'; change one of them"])
    #expect(menu.command(for: KeyEvent(.character("s"), .control))?.command == .open)
    #expect(menu.command(for: KeyEvent(.character("s")))?.command == .quit)
    #expect(menu.command(for: KeyEvent(.character("S"))) == nil)
  }

  @Test func indistinguishableKeysAreReportedAsDuplicates() {
    func problems(_ one: KeyEquivalent, _ other: KeyEquivalent) -> [String] {
      Menu("", [.command(MenuCommand("Open", .open, one)), .command(MenuCommand("Save", .save, other))])
        .problems(commands: [])
    }
    #expect(
      problems(KeyEquivalent(.tab), KeyEquivalent(.character("i"), .control)) == [
        "a terminal can't distinguish Tab of 'Open' from Ctrl-I of 'Save'; change one of them"
      ])
    #expect(problems(KeyEquivalent(.enter), KeyEquivalent(.character("m"), .control)).count == 1)
    #expect(
      problems(KeyEquivalent(.character("a"), [.control, .shift]), KeyEquivalent(.character("a"), .control)).count == 1)
    #expect(problems(KeyEquivalent(.character("a")), KeyEquivalent(.character("A"))) == [])
    #expect(problems(KeyEquivalent(.tab), KeyEquivalent(.tab, .shift)) == [])
  }

  @Test func keysHaveConventionalNames() {
    #expect(KeyEquivalent(.character("n")).description == "n")
    #expect(KeyEquivalent(.character("N")).description == "N")
    #expect(KeyEquivalent(.character("s"), .control).description == "Ctrl-S")
    #expect(KeyEquivalent(.left, [.alt, .shift]).description == "Alt-Shift-Left")
    #expect(KeyEquivalent(.function(3)).description == "F3")
    #expect(KeyEquivalent(.character(" ")).description == "Space")
  }
}
