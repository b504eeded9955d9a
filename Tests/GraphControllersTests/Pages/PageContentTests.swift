import GraphControllers
import Testing

/// The times at which pages request their content, and what they show until it arrives.
@Suite struct PageContentTests {
  @Test func offscreenPageRequestsNothingUntilItAppears() {
    let script = PagerTranscript(10)
    #expect(script.source.asked.map(\.page) == [0])
    _ = script.scroll(0.1)
    #expect(script.source.asked.map(\.page) == [0, 1])
    _ = script.scroll(0.5, 0.9)
    #expect(script.source.asked.map(\.page) == [0, 1])
  }

  @Test func offscreenChangeRefreshesPageOnceWhenItAppears() {
    let script = PagerTranscript(10)
    _ = script.scroll(0.4)
    _ = script.end()
    #expect(script.line == "0 | 1")
    script.source.edition = 2
    script.pager.sourceDidChange(pages: [1, 5], at: 0)
    #expect(script.line == "0 | 1 stale")
    #expect(script.pageContent(script.pager.next) == "page 1, edition 1")
    let before = script.refreshes

    #expect(script.scroll(0.1) == "0 | 1")
    #expect(script.pageContents == ["page 0, edition 1", "page 1, edition 2"])
    #expect(script.refreshes == before + 1)
    // Visible changes wait for the end of the scroll, which they must not delay.
    script.source.edition = 3
    script.pager.sourceDidChange(pages: [1], at: 0)
    #expect(script.scroll(0.6, 0.7, 0.8) == "0 | 1 stale")
    #expect(script.refreshes == before + 1)
    #expect(script.end() == "1 | 0")
    #expect(script.refreshes == before + 2)
    #expect(script.pageContents == ["page 1, edition 3"])
    _ = script.end()
    #expect(script.refreshes == before + 2)
  }

  @Test func changeAtRestRefreshesPageImmediately() {
    let script = PagerTranscript(10)
    script.source.edition = 2
    script.pager.sourceDidChange(pages: [0], at: 0)
    #expect(script.pageContents == ["page 0, edition 2"])
    let before = script.source.asked.count
    script.pager.sourceDidChange(pages: [7], at: 0)
    #expect(script.source.asked.count == before)
  }

  @Test func slowContentShowsOverlayAndNeverOtherPage() {
    let script = PagerTranscript(10)
    #expect(script.pageContents == ["page 0, edition 1"])
    script.source.isSlow = true
    script.now = 1_000
    _ = script.jump(5)
    #expect(script.pageContents == ["empty"])
    #expect(!script.pager.current.allowsEditing)
    #expect(script.pager.current.nextChange(after: 1_000) == 1_250)
    script.now = 1_250
    #expect(script.pageContents == ["Loading…"])
    script.pager.deliver("five", for: script.source.asked[1])
    #expect(script.pageContents == ["five"])
    #expect(script.pager.current.allowsEditing)
    #expect(script.pager.current.nextChange(after: 1_250) == nil)
  }

  @Test func answerForLeftPageIsDropped() {
    let script = PagerTranscript(10, isSlow: true)
    let first = script.source.asked[0]
    _ = script.jump(5)
    let second = script.source.asked[1]
    #expect(!script.pager.deliver("zero", for: first))
    #expect(!script.pager.fail(first, "gone"))
    #expect(script.pageContents == ["empty"])
    #expect(script.pager.deliver("five", for: second))
    #expect(!script.pager.deliver("five again", for: second))
    #expect(script.pageContents == ["five"])
  }

  @Test func newerAnswerReplacesOlderRequest() {
    let script = PagerTranscript(10, isSlow: true)
    script.now = 300
    #expect(script.pageContents == ["Loading…"])
    script.pager.sourceDidChange(pages: [0], at: 300)
    // The page continues to wait; the overlay does not flicker.
    #expect(script.pageContents == ["Loading…"])
    #expect(!script.pager.deliver("old", for: script.source.asked[0]))
    #expect(script.pager.deliver("new", for: script.source.asked[1]))
    #expect(script.pageContents == ["new"])
  }

  @Test func refreshKeepsOldContentUntilAnswer() {
    let script = PagerTranscript(10)
    script.source.isSlow = true
    script.pager.sourceDidChange(pages: [0], at: 0)
    script.now = 5_000
    #expect(script.pageContents == ["page 0, edition 1"])
    script.pager.deliver("newer", for: script.source.asked[1])
    #expect(script.pageContents == ["newer"])
  }

  @Test func failureShowsReasonAndIsRetried() {
    let script = PagerTranscript(10, isSlow: true)
    #expect(script.pager.fail(script.source.asked[0], "the connection is gone"))
    script.now = 5_000
    #expect(script.pageContents == ["failed: the connection is gone"])
    script.source.isSlow = false
    script.pager.sourceDidChange(at: 5_000)
    #expect(script.pageContents == ["page 0, edition 1"])
  }

  @Test func lastRemainingPageIsShownAfterRemoval() {
    let script = PagerTranscript(10, at: 9)
    script.source.pageCount = 3
    script.pager.sourceDidChange(at: 0)
    #expect(script.line == "2 | 1 stale")
    script.source.pageCount = 4
    _ = script.jump(3)
    _ = script.scroll(3.2)
    #expect(script.pageContents == ["page 3, edition 1", "none"])
    script.source.pageCount = 5
    script.pager.sourceDidChange(at: 0)
    _ = script.scroll(3.3)
    #expect(script.pageContents == ["page 3, edition 1", "page 4, edition 1"])
  }

  // MARK: - Dots

  private func row(_ dots: PageDots) -> String {
    String(
      dots.dots.map { dot -> Character in
        switch dot {
        case .page: "·"
        case .current: "●"
        case .more: "…"
        }
      })
  }

  @Test func dotsShowCurrentPageAndOverflow() {
    #expect(row(PageDots(count: 5, current: 1, room: 9)) == "·●···")
    #expect(row(PageDots(count: 10_000, current: 0, room: 5)) == "●···…")
    #expect(row(PageDots(count: 10_000, current: 5_000, room: 5)) == "…·●·…")
    #expect(row(PageDots(count: 10_000, current: 9_999, room: 5)) == "…···●")
    #expect(row(PageDots(count: 3, current: -1, room: 5)) == "···")
    #expect(row(PageDots(count: 3, current: 0, room: 2)) == "")
    #expect(row(PageDots(count: 0, current: 0, room: 5)) == "")
  }

  @Test func clickOnDotChangesPage() {
    let dots = PageDots(count: 10_000, current: 5_000, room: 5)
    #expect(dots.page(ofDot: 0) == 4_998)
    #expect(dots.page(ofDot: 4) == 5_002)
    #expect(dots.page(ofDot: 5) == nil)
    #expect(dots.page(ofDot: -1) == nil)
    #expect(dots.previous == 4_999)
    #expect(dots.next == 5_001)
    #expect(PageDots(count: 3, current: 0, room: 5).previous == nil)
    #expect(PageDots(count: 3, current: 2, room: 5).next == nil)
    #expect(PageDots(count: 3, current: 1, room: 5).text == "2 of 3")
    #expect(PageDots(count: 0, current: 0, room: 5).text == "")
  }
}
