import TerminalCells

extension Bench {
  private static let screen = Size(width: 200, height: 60)
  private static let frames = 2_000
  /// The required time from a key press to painted cells, in microseconds; this is a part of it.
  private static let frameLimit = 16_000.0

  /// Measures a terminal program's work for each frame and each key, without a terminal: encoding changed cells, and
  /// decoding keys.
  func measureTerminal() throws {
    var grid = try notesOnScreen()
    var writer = ScreenWriter(depth: .direct)
    let whole = writer.bytes(for: grid).count
    var sizes = [Double]()
    let changes = (0..<Self.frames).map { number in
      // Each position recurs after 600 frames, with another letter.
      let place = Point(x: number * 7 % Self.screen.width, y: number * 13 % Self.screen.height)
      grid.draw(number / 600 % 2 == 0 ? "x" : "o", x: place.x, y: place.y, Style(.standard, on: Color(hex: 0xFFF1A8)))
      return timed { sizes.append(Double(writer.bytes(for: grid).count)) }
    }
    guard sizes.allSatisfy({ $0 > 0 }) else { throw BenchmarkError(description: "a changed cell was not written") }
    let redraws = (0..<200).map { _ in
      writer.forget()
      return timed { _ = writer.bytes(for: grid) }
    }
    let same = (0..<Self.frames).map { _ in timed { _ = writer.bytes(for: grid) } }
    Figure(
      name: "one changed cell of 200 × 60", unit: "µs", ours: median(changes) * 1e6, limit: Self.frameLimit,
      aim: .atMost(1)
    ).report()
    Figure(name: "– bytes for it, median", unit: "bytes", ours: median(sizes)).report()
    Figure(name: "– bytes for it, at most", unit: "bytes", ours: sizes.max() ?? .nan).report()
    Figure(name: "a frame in which nothing changed", unit: "µs", ours: median(same) * 1e6).report()
    Figure(
      name: "all of 12,000 cells", unit: "µs", ours: median(redraws) * 1e6, limit: Self.frameLimit, aim: .atMost(1)
    ).report()
    Figure(name: "– bytes for them", unit: "bytes", ours: Double(whole)).report()
    try measureKeys()
  }

  /// Returns a screen full of overlapping windows with text.
  private func notesOnScreen() throws -> Grid {
    var grid = Grid(Self.screen)
    for number in 0..<60 {
      let frame = Rect(x: number * 37 % 170, y: number * 11 % 50, width: 28, height: 9)
      let style = Style(Color(hex: 0x333333), on: Color(hex: [0xFFF1A8, 0xC8E6C9, 0xBBDEFB, 0xF8BBD0][number % 4]))
      grid.fill(frame, with: " ", style)
      grid.box(frame, .light, style)
      for row in 1..<8 { grid.draw("Note \(number), line \(row): milk", x: frame.minX + 2, y: frame.minY + row, style) }
    }
    return grid
  }

  private func measureKeys() throws {
    // Letters, an arrow with a modifier, a mouse click and a paste, split as a terminal sends them.
    let parts: [[UInt8]] = [
      "a", "ä", "\u{1B}[1;5C", "\u{1B}[<0;120;33M", "\u{1B}[<0;120;33m", "\u{1B}[200~Hi\u{1B}[201~",
    ]
    .map { Array($0.utf8) }
    let size = parts.reduce(0) { $0 + $1.count }
    let rates = try (0..<Self.rounds).map { _ in
      var decoder = TerminalDecoder()
      var (events, bytes) = (0, 0)
      let start = now()
      while now() - start < seconds / 4 {
        for _ in 0..<100 { for part in parts { events += decoder.feed(part).count } }
        bytes += 100 * size
      }
      // Each part is one event.
      guard events == bytes / size * parts.count else {
        throw BenchmarkError(description: "\(events) events were decoded")
      }
      return (bytes: Double(bytes) / (now() - start), events: Double(events) / (now() - start))
    }
    Figure(name: "keys, mouse and paste decoded", unit: "million/s", ours: median(rates.map(\.events)) / 1e6).report()
    Figure(name: "– bytes", unit: "MB/s", ours: median(rates.map(\.bytes)) / 1e6).report()
  }
}
