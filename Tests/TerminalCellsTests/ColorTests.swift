import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct ColorTests {
  @Test(arguments: [
    (["TERM": "xterm-256color", "COLORTERM": "truecolor"], ColorDepth.direct),
    (["TERM": "xterm-256color", "COLORTERM": "24bit"], .direct), (["TERM": "xterm-kitty"], .direct),
    (["TERM": "xterm-direct"], .direct), (["TERM": "xterm-256color"], .palette), (["TERM": "xterm"], .sixteen),
    (["TERM": "linux"], .sixteen), (["TERM": "vt100"], .none), (["TERM": "dumb", "COLORTERM": "truecolor"], .none),
    ([:], .none), (["TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"], .none),
    (["TERM": "xterm-256color", "NO_COLOR": ""], .palette),
    (["TERM": "screen-256color", "COLORTERM": "truecolor"], .palette),
    (["TERM": "screen-256color", "COLORTERM": "truecolor", "TMUX": "/tmp/tmux"], .direct),
    (["TERM": "tmux-256color", "COLORTERM": "truecolor", "TMUX": "/tmp/tmux"], .direct),
  ])
  func environmentDeterminesColorDepth(environment: [String: String], depth: ColorDepth) {
    #expect(ColorDepth(environment: environment) == depth)
    #expect(ColorDepth(environment: environment, isANSI: true) == .sixteen)
  }

  @Test func nearestColorIsFound() {
    let yellow = Color(hex: 0xFFEE99)
    #expect(ColorDepth.direct.nearest(to: yellow) == yellow)
    #expect(ColorDepth.palette.nearest(to: yellow) == .palette(228))
    #expect(ColorDepth.sixteen.nearest(to: .rgb(250, 250, 10)) == .palette(11))
    #expect(ColorDepth.sixteen.nearest(to: .palette(196)) == .palette(9))
    #expect(ColorDepth.none.nearest(to: yellow) == .standard)
    #expect(ColorDepth.palette.nearest(to: .rgb(128, 128, 128)) == .palette(244))
    for depth in ColorDepth.allCases { #expect(depth.nearest(to: Color.standard) == .standard) }
  }

  @Test func noPaletteNeighborIsNearer() {
    for seed in UInt64(0)..<500 {
      var random = SeededGenerator(seed: seed)
      let wanted = (random.below(256), random.below(256), random.below(256))
      func distance(_ color: Color) -> Int {
        guard let (red, green, blue) = color.components else { return .max }
        let parts = (Int(red) - wanted.0, Int(green) - wanted.1, Int(blue) - wanted.2)
        return parts.0 * parts.0 + parts.1 * parts.1 + parts.2 * parts.2
      }
      let found = ColorDepth.palette.nearest(to: .rgb(UInt8(wanted.0), UInt8(wanted.1), UInt8(wanted.2)))
      let best = (16...255).map { distance(.palette(UInt8($0))) }.min() ?? 0
      // Both measures of distance agree but for a little.
      #expect(distance(found) <= best * 2 + 64, "seed \(seed)")
    }
  }

  @Test func collapsedColorsKeepTextReadable() {
    let style = Style(.rgb(250, 250, 20), on: .rgb(255, 255, 0))
    #expect(ColorDepth.sixteen.nearest(to: style) == Style(.palette(0), on: .palette(11)))
    let dark = Style(.rgb(3, 3, 3), on: .rgb(0, 0, 0))
    #expect(ColorDepth.sixteen.nearest(to: dark) == Style(.palette(15), on: .palette(0)))
    #expect(ColorDepth.none.nearest(to: style) == Style())
  }

  @Test func textContrastIsEnsuredOnLightAndDark() throws {
    for background in [Color(hex: 0xFFFFFF), Color(hex: 0xFFEE99), Color(hex: 0x1E1E1E), Color(hex: 0x808080)] {
      for hex in stride(from: UInt32(0), through: 0xFFFFFF, by: 0x10305) {
        let color = Color(hex: hex).legible(on: background)
        #expect(try #require(color.contrast(with: background)) >= 4.4, "\(String(hex, radix: 16)) on \(background)")
      }
    }
    let black = Color(hex: 0)
    #expect(black.legible(on: Color(hex: 0xFFFFFF)) == black)
    #expect(Color.standard.legible(on: black) == .standard)
    #expect(abs(try #require(black.contrast(with: Color(hex: 0xFFFFFF))) - 21) < 0.01)
  }
}
