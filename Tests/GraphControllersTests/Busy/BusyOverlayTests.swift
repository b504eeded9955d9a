import GraphControllers
import Testing

/// One overlay for everything that a controller waits for.
@Suite struct BusyOverlayTests {
  @Test func overlayAppearsAfterDelay() {
    var busy = BusyOverlay()
    #expect(busy.appearance(at: 0) == nil)
    #expect(busy.nextChange(after: 0) == nil)
    let token = busy.show(.loading, at: 1_000)
    #expect(busy.isBusy)
    #expect(busy.appearance(at: 1_249) == nil)
    #expect(busy.nextChange(after: 1_000) == 1_250)
    #expect(busy.appearance(at: 1_250)?.message == "Loading…")
    busy.hide(token)
    #expect(!busy.isBusy)
    #expect(busy.appearance(at: 1_300) == nil)
    #expect(busy.nextChange(after: 1_300) == nil)
  }

  @Test func nestedShowsEndWithLastHide() {
    var busy = BusyOverlay(appearsAfter: 100)
    let connecting = busy.show(.connecting, at: 0)
    let loading = busy.show(.loading, "Loading 1,000 objects", at: 90)
    #expect(busy.appearance(at: 100)?.message == "Loading 1,000 objects")
    busy.hide(loading)
    busy.hide(loading)
    #expect(busy.appearance(at: 101)?.message == "Connecting…")
    let saving = busy.show(.saving, at: 102)
    busy.hide(connecting)
    #expect(busy.appearance(at: 103)?.reason == .saving)
    busy.hide(saving)
    #expect(busy.appearance(at: 104) == nil)
  }

  @Test func nextShowHasItsOwnDelay() {
    var busy = BusyOverlay(appearsAfter: 100)
    busy.hide(busy.show(.saving, at: 0))
    _ = busy.show(.saving, at: 5_000)
    #expect(busy.appearance(at: 5_099) == nil)
    #expect(busy.appearance(at: 5_100) != nil)
  }

  @Test func indicatorReportsItsNextFrameTime() {
    var busy = BusyOverlay(appearsAfter: 50)
    _ = busy.show(.reconnecting, at: 0)
    var now: Int64 = 0
    var phases = [Int]()
    for _ in 0..<10 {
      guard let next = busy.nextChange(after: now) else { break }
      now = next
      #expect(busy.appearance(at: now - 1)?.phase != busy.appearance(at: now)?.phase)
      phases.append(busy.appearance(at: now)?.phase ?? -1)
    }
    #expect(phases == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1])
  }

  @Test func progressBelongsToItsShow() {
    var busy = BusyOverlay(appearsAfter: 0)
    let loading = busy.show(.loading, at: 0)
    busy.setProgress(0.5, of: loading)
    #expect(busy.appearance(at: 0)?.progress == 0.5)
    let saving = busy.show(.saving, at: 0)
    #expect(busy.appearance(at: 0)?.progress == nil)
    busy.setProgress(7, of: saving)
    #expect(busy.appearance(at: 0)?.progress == 1)
    busy.hide(saving)
    busy.setProgress(0.9, of: saving)
    #expect(busy.appearance(at: 0)?.progress == 0.5)
    busy.setProgress(.nan, of: loading)
    #expect(busy.appearance(at: 0)?.progress == 0)
  }

  @Test func editingIsAllowedUnlessEditedContentIsLoading() {
    func allows(_ reasons: BusyReason...) -> Bool {
      var busy = BusyOverlay()
      for reason in reasons { _ = busy.show(reason, at: 0) }
      return busy.allowsEditing
    }
    #expect(allows())
    #expect(!allows(.connecting))
    #expect(!allows(.loading))
    #expect(allows(.reconnecting))
    #expect(allows(.saving))
    #expect(!allows(.reconnecting, .loading, .saving))
  }

  @Test func viewIsCreatedOnceWhenFirstVisible() {
    var built = 0
    var busy = BusyOverlay(appearsAfter: 100)
    var view = BusyViewHolder<Int> {
      built += 1
      return built
    }
    for start: Int64 in [0, 1_000, 2_000] {
      let token = busy.show(.loading, at: start)
      #expect(view.view(for: busy.appearance(at: start)) == nil)
      if start > 0 { #expect(view.view(for: busy.appearance(at: start + 200)) == 1) }
      busy.hide(token)
      #expect(view.view(for: busy.appearance(at: start + 200)) == nil)
      #expect(built == (start > 0 ? 1 : 0))
    }
  }
}
