import Foundation
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct ThemeTests {
  private static let all = [true, false].flatMap { isDark in
    ColorDepth.allCases.map { Theme(isDark: isDark, depth: $0) }
  }

  private func expectLegible(_ style: Style, _ least: Double, _ name: String, _ theme: Theme) {
    let place = "\(name) in \(theme.isDark ? "dark" : "light") \(theme.depth)"
    guard style.background != .standard else {
      // On the terminal's own background, the terminal's own text color is used.
      #expect(style.foreground == .standard, "\(place)")
      return
    }
    let contrast = style.foreground.contrast(with: style.background)
    #expect((contrast ?? 0) >= least, "\(place): \(style) has \(contrast ?? 0)")
  }

  @Test func everyTextIsLegibleOnEveryTerminal() {
    for theme in Self.all {
      for color in PaperColor.allCases {
        let look = theme.note(color)
        expectLegible(look.text, 4.5, "text of \(color)", theme)
        expectLegible(look.title, 4.5, "title of \(color)", theme)
        expectLegible(look.focusedTitle, 4.5, "focused title of \(color)", theme)
        expectLegible(look.selected, 4.5, "selection in \(color)", theme)
        expectLegible(look.faint, 3.5, "tags of \(color)", theme)
        expectLegible(look.border, 1.5, "frame of \(color)", theme)
        expectLegible(look.focusedBorder, 4.5, "focused frame of \(color)", theme)
        expectLegible(theme.board(color), 4.5, "board of \(color)", theme)
        expectLegible(theme.link(color), 4.5, "link on \(color)", theme)
      }
      for number in 0..<8 { expectLegible(theme.person(number), 4.5, "person \(number)", theme) }
      for (name, style) in [
        ("bar", theme.bar), ("chosen", theme.chosen), ("hint", theme.hint), ("panel", theme.panel),
        ("button", theme.button), ("other button", theme.otherButton), ("list", theme.list),
        ("list faint", theme.listFaint), ("match", theme.match), ("good", theme.good), ("waiting", theme.waiting),
        ("wrong", theme.wrong),
      ] {
        expectLegible(style, 4.5, name, theme)
      }
      expectLegible(theme.disabled, 2.5, "disabled", theme)
    }
  }

  /// A theme's colors reach the terminal unchanged.
  @Test func onlyAvailableTerminalColorsAreUsed() {
    for theme in Self.all {
      for color in PaperColor.allCases {
        let look = theme.note(color)
        for style in [
          look.text, look.title, look.focusedTitle, look.border, look.faint, look.selected, theme.link(color),
        ] {
          #expect(theme.depth.nearest(to: style) == style, "\(color) at \(theme.depth)")
        }
      }
      for style in [
        theme.bar, theme.panel, theme.list, theme.match, theme.good, theme.waiting, theme.wrong, theme.disabled,
      ] {
        #expect(theme.depth.nearest(to: style) == style, "\(theme.depth)")
      }
    }
  }

  @Test func papersAndUserColorsAreDistinct() {
    for theme in Self.all where theme.depth != .none {
      #expect(Set(PaperColor.allCases.map { theme.note($0).text.background }).count == 11, "\(theme.depth)")
      if theme.depth != .sixteen { #expect(Set((0..<8).map { theme.person($0) }).count == 8, "\(theme.depth)") }
      // A note stands out from every board.
      for board in PaperColor.allCases {
        for paper in PaperColor.allCases {
          #expect(theme.board(board).background != theme.note(paper).text.background)
        }
      }
    }
  }

  @Test func focusAndSelectionAreVisibleWithoutColors() {
    let theme = Theme(depth: .none)
    let look = theme.note(.red)
    #expect(look.title != look.focusedTitle)
    #expect(look.text != look.selected)
    #expect(Set([theme.bar, theme.chosen, theme.disabled]).count == 3)
    #expect(theme.list != theme.match)
    #expect(theme.button != theme.otherButton)
  }

  @Test func papersMatchModelColors() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let schema = try String(contentsOf: root.appendingPathComponent("Schema/Stickies/2.json"), encoding: .utf8)
    let names = PaperColor.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    #expect(schema.contains("\"cases\": [\(names)]"))
    #expect(PaperColor(name: "teal") == .teal)
    #expect(PaperColor(name: "octarine") == .gray)
  }

  @Test func backgroundReplySelectsLightOrDark() {
    #expect(Theme.isDark(.rgb(30, 30, 30)))
    #expect(!Theme.isDark(.rgb(250, 240, 220)))
  }
}
