import GraphControllers
import GraphTesting
import Testing

/// Two page controllers that take turns during a scroll.
@Suite struct PagerTests {
  @Test func nextIsConfiguredForVisibleNeighbor() {
    let script = PagerTranscript(10, at: 4)
    #expect(script.line == "4 | 5 stale")
    #expect(script.scroll(4.1) == "4 | 5")
    #expect(script.scroll(3.9) == "4 | 3")
    #expect(script.pageContents == ["page 3, edition 1", "page 4, edition 1"])
  }

  @Test func controllersSwapAtScrollEndToNearestPage() {
    let script = PagerTranscript(10)
    #expect(script.scroll(0.3, 0.9, 1) == "0 | 1")
    #expect(script.end() == "1 | 0")
    #expect(script.scroll(1.4) == "1 | 2")
    #expect(script.end() == "1 | 2")
    #expect(script.pager.offset == 1)
    #expect(script.scroll(1.6) == "1 | 2")
    #expect(script.end() == "2 | 1")
    #expect(script.made.count == 2)
  }

  @Test func reversedScrollConfiguresNothing() {
    let script = PagerTranscript(10, at: 2)
    _ = script.scroll(2.2)
    let before = script.configurations
    #expect(script.scroll(2.7, 3, 2.9, 2.4, 2.1, 2.8, 3, 2.5, 2) == "2 | 3")
    #expect(script.configurations == before)
    #expect(script.end() == "2 | 3")
    #expect(script.configurations == before)
  }

  @Test func longScrollConfiguresTheInvisibleController() {
    let script = PagerTranscript(10)
    #expect(script.scroll(0.5) == "0 | 1")
    #expect(script.scroll(1.5) == "2 | 1")
    #expect(script.scroll(2.5) == "2 | 3")
    #expect(script.scroll(3.2) == "4 | 3")
    #expect(script.end() == "3 | 4")
    #expect(script.configurations == 5)
    #expect(script.scroll(8.5) == "9 | 8")
    #expect(script.pageContents == ["page 8, edition 1", "page 9, edition 1"])
  }

  @Test func jumpConfiguresBothControllers() {
    let script = PagerTranscript(10)
    let before = script.configurations
    #expect(script.jump(7) == "7 | 8 stale")
    #expect(script.configurations == before + 2)
    #expect(script.jump(99) == "9 | 8 stale")
    #expect(script.jump(-1) == "0 | 1 stale")
    #expect(script.jump(script.pager.dots(room: 10).page(ofDot: 3) ?? -1) == "3 | 4 stale")
    let after = script.configurations
    #expect(script.jump(3) == "3 | 4 stale")
    #expect(script.configurations == after)
  }

  @Test func outOfBoundsPagesAreAllowedOffscreen() {
    let script = PagerTranscript(2)
    #expect(script.scroll(-0.3) == "0 | -1")
    #expect(script.pageContents == ["none", "page 0, edition 1"])
    #expect(script.end() == "0 | -1")
    #expect(script.scroll(-0.7) == "0 | -1")
    #expect(script.end() == "0 | -1")
    #expect(script.jump(1) == "1 | 0 stale")
    #expect(script.scroll(1.6) == "1 | 2")
    #expect(script.end() == "1 | 2")
    #expect(script.source.asked.map(\.page).allSatisfy { (0..<2).contains($0) })

    let empty = PagerTranscript(0)
    #expect(empty.pageContents == ["none"])
    empty.source.pageCount = 1
    empty.pager.sourceDidChange(at: 0)
    #expect(empty.pageContents == ["page 0, edition 1"])

    let single = PagerTranscript(1)
    #expect(single.line == "0 | 1")
    #expect(single.pageContent(single.pager.next) == "none")
  }

  @Test func onePagerPagesThroughTenThousandPagesWithTwoControllers() {
    let script = PagerTranscript(10_000)
    for page in 1..<10_000 {
      _ = script.scroll(Double(page) - 0.5, Double(page))
      #expect(script.pager.current.page == page - 1)
      _ = script.end()
      #expect(script.pager.current.page == page)
      #expect(script.pageContents == ["page \(page), edition 1"])
    }
    #expect(script.made.count == 2)
    #expect(Set([ObjectIdentifier(script.pager.current), ObjectIdentifier(script.pager.next)]).count == 2)
    #expect(script.configurations == 10_000)
  }

  // MARK: - Random scrolls

  /// The twin uses no controllers: at every offset, the visible pages are the whole ones to its left and right.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func visiblePagesAreConfiguredAtEveryOffset(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let script = PagerTranscript(8)
    var offset = 0.0
    for step in 0..<600 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        offset = Double(Int.random(in: -1..<9, using: &random))
        _ = script.jump(Int(offset))
        offset = min(7, max(0, offset))
      case 1:
        _ = script.end()
        if script.pager.offset != offset { offset = min(7, max(0, offset.rounded())) }
      default:
        offset = min(8.4, max(-1.4, offset + Double.random(in: -0.8...0.8, using: &random)))
        if random.chance(20) { offset.round() }
        _ = script.scroll(offset)
      }
      let twin = Set([Int(offset.rounded(.down)), Int(offset.rounded(.up))]).sorted()
      #expect(script.pager.visible.map(\.page) == twin, "seed \(seed), step \(step), offset \(offset)")
      #expect(
        script.pageContents == twin.map { (0..<8).contains($0) ? "page \($0), edition 1" : "none" },
        "seed \(seed), step \(step)")
    }
    #expect(script.made.count == 2)
  }
}
