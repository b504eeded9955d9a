import TerminalCells

/// The characters that views are drawn with, each one cell wide.
public struct Symbols: Hashable, Sendable {
  /// The marks in a note's title.
  struct Badges: Hashable, Sendable {
    let pinned: Character
    let locked: Character
    let collapsed: Character
    let unsent: Character
    let conflict: Character
  }

  /// The position among the boards.
  struct Dots: Hashable, Sendable {
    let other: Character
    let current: Character
    /// A page beyond which there are more.
    let more: Character
  }

  /// The directions in which there is more.
  struct Arrows: Hashable, Sendable {
    let up: Character
    let down: Character
    let left: Character
    let right: Character
  }

  /// The frames of a note without and with the focus.
  let box: BoxLines
  let focusedBox: BoxLines
  /// The left and right end of a collapsed note.
  let leftEnd: Character
  let rightEnd: Character
  let line: Character
  let resize: Character
  let close: Character
  let badges: Badges
  let unselected: Character
  let selected: Character
  let arrows: Arrows
  let cut: Character
  let check: Character
  let submenu: Character
  let dots: Dots
  let pointer: Character
  let full: Character
  let empty: Character
  let thumb: Character
  /// The part of the history's track before the thumb.
  let passed: Character
  let search: Character
  /// The separator between pieces of the status line.
  let separator: String
  /// Lines between notes, indexed by the directions they join: 1 up, 2 down, 4 left, 8 right.
  let joints: [Character]
  let spinner: [Character]

  /// Box-drawing characters and shapes that nearly every font has.
  static let lines = Symbols(
    box: .rounded, focusedBox: .heavy, leftEnd: "├", rightEnd: "┤", line: "─", resize: "▟", close: "×",
    badges: Badges(pinned: "▲", locked: "■", collapsed: "►", unsent: "*", conflict: "!"), unselected: "○",
    selected: "●",
    arrows: Arrows(up: "↑", down: "↓", left: "←", right: "→"), cut: "…", check: "√", submenu: "►",
    dots: Dots(other: "○", current: "●", more: "·"), pointer: "▘",
    full: "█", empty: "░", thumb: "█", passed: "━", search: "/", separator: "│",
    joints: [" ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼"],
    spinner: ["│", "/", "─", "\\"])

  /// ASCII only.
  static let ascii = Symbols(
    box: .ascii, focusedBox: .ascii, leftEnd: "[", rightEnd: "]", line: "-", resize: "#", close: "x",
    badges: Badges(pinned: "^", locked: "L", collapsed: ">", unsent: "*", conflict: "!"), unselected: "o",
    selected: "@",
    arrows: Arrows(up: "^", down: "v", left: "<", right: ">"), cut: "~", check: "x", submenu: ">",
    dots: Dots(other: "o", current: "@", more: "."), pointer: "\\",
    full: "#", empty: ".", thumb: "#", passed: "=", search: "/", separator: "|",
    joints: [" ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+"],
    spinner: ["|", "/", "-", "\\"])
}
