import GraphControllers
import GraphModel
import Testing

/// The search field as a state machine: keystrokes, time and answers in, lines out.
@Suite struct SearchSessionTests {
  private struct Script {
    var session = SearchSession(debounceMilliseconds: 100, maximumDelayMilliseconds: 250)

    mutating func type(_ text: String, _ now: Milliseconds) -> [String] { lines(.typed(text, at: now)) }

    mutating func time(_ now: Milliseconds) -> [String] { lines(.time(now)) }

    mutating func lines(_ event: SearchSession.Event) -> [String] {
      session.handle(event).map { action in
        switch action {
        case .begin: "begin"
        case .search(let number, let query): "search \(number): \(query.words.joined(separator: " "))"
        case .cancel(let number): "cancel \(number)"
        case .show(let number): "show \(number)"
        case .fail(let refusal): "fail: \(refusal.message)"
        case .restore: "restore"
        case .busy(let isBusy): isBusy ? "busy" : "idle"
        }
      }
    }
  }

  @Test func keystrokesAreDebounced() {
    var script = Script()
    #expect(script.type("m", 0) == ["begin"])
    #expect(script.session.deadline == 100)
    #expect(script.type("mi", 60) == [])
    #expect(script.session.deadline == 160)
    #expect(script.time(159) == [])
    #expect(script.time(160) == ["busy", "search 1: mi"])
    #expect(script.session.deadline == nil)
    #expect(script.lines(.answered(1)) == ["idle", "show 1"])
    #expect(script.time(999) == [])
  }

  @Test func continuousTypingSearchesAtIntervals() {
    var script = Script()
    for (place, text) in ["m", "mi", "mil", "milk"].enumerated() { _ = script.type(text, Int64(place) * 80) }
    #expect(script.session.deadline == 250)
    #expect(script.time(250) == ["busy", "search 1: milk"])
    #expect(script.type("milk t", 260) == [] && script.session.deadline == 360)
  }

  @Test func staleAnswerIsDropped() {
    var script = Script()
    _ = script.type("m", 0)
    #expect(script.time(100) == ["busy", "search 1: m"])
    #expect(script.type("mi", 120) == [])
    #expect(script.time(220) == ["cancel 1", "search 2: mi"])
    #expect(script.lines(.answered(1)) == [])
    #expect(script.lines(.failed(1, Refusal(.unavailable, "late"))) == [])
    #expect(script.lines(.answered(2)) == ["idle", "show 2"])
    #expect(script.lines(.answered(2)) == [])
  }

  @Test func sameWordsAreNotSearchedTwice() {
    var script = Script()
    _ = script.type("Milk", 0)
    #expect(script.time(100) == ["busy", "search 1: milk"])
    #expect(script.type("milk ", 110) == [] && script.session.deadline == nil)
    #expect(script.type("milks", 120) == [] && script.session.deadline == 220)
    #expect(script.type("milk", 130) == [] && script.session.deadline == nil)
    #expect(script.lines(.answered(1)) == ["idle", "show 1"])
  }

  @Test func clearingRestoresRowsAndDropsPendingSearch() {
    var script = Script()
    #expect(script.type("", 0) == [] && script.type("  -", 1) == [])
    _ = script.type("a", 2)
    #expect(script.type("", 10) == ["restore"] && script.session.deadline == nil)
    _ = script.type("b", 20)
    _ = script.time(120)
    #expect(script.type("", 130) == ["cancel 1", "idle", "restore"])
    #expect(script.lines(.answered(1)) == [])
    #expect(script.type("b", 200) == ["begin"])
    #expect(script.time(300) == ["busy", "search 2: b"])
  }

  @Test func failureStopsIndicatorAndCanBeRetried() {
    var script = Script()
    _ = script.type("a", 0)
    _ = script.time(100)
    #expect(script.lines(.failed(1, Refusal(.unavailable, "away"))) == ["idle", "fail: away"])
    #expect(script.type("a", 200) == [])
    #expect(script.time(300) == ["busy", "search 2: a"])
  }

  // MARK: - Words

  private func highlighted(_ query: String, _ text: String) -> [String]? {
    SearchQuery(query)?.highlights(in: text).map { String(text[$0]) }
  }

  @Test func wordPrefixesAreHighlighted() {
    #expect(highlighted("mi br", "Milk, bread and MILL; family brio") == ["Mi", "br", "MI", "br"])
    #expect(highlighted("m mil", "Milk meal") == ["Mil", "m"])
    #expect(highlighted("cafe", "Ein Café, ein Cafe\u{301}haus") == ["Café", "Cafe\u{301}"])
    #expect(highlighted("grü 12", "GRÜN grun 123") == ["GRÜ", "gru", "12"])
    #expect(highlighted("x", "milk") == [])
    #expect(highlighted("牛乳", "毎日牛乳を買う、牛乳") == ["牛乳", "牛乳"])
    #expect(highlighted("東京都", "京都と東京") == [])
    #expect(highlighted("人人", "人人人") == ["人人人"])
    #expect(highlighted("นม", "ซื้อนมสด") == ["นม"])
    #expect(highlighted("ｶﾞ", "メガネ") == ["ガ"])
    #expect(highlighted("f strass", "ﬁne Straße ＦＯＯ") == ["ﬁ", "Straß", "Ｆ"])
    #expect(SearchQuery(" ,-") == nil)
  }

  @Test func highlightsAgreeWithMatches() {
    let texts = [
      "Milk", "a\u{301}b", "straße", "STRASSE", "İstanbul", "λόγος ΛΌΓΟΣ", "日本語 text", "x²", "e-mail", "🎉 party",
      "日本語", "本語", "本", "ﬁne", "fi", "ＦＩＮＥ", "istanbul", "ist", "ซื้อนม", "นม", "iPhone手机", "手", "ς", "ΛΌΓΟΣ", "2024年",
    ]
    for text in texts {
      for word in texts {
        guard let query = SearchQuery(word), query.words.count == 1 else { continue }
        #expect(query.matches(text) == !query.highlights(in: text).isEmpty, "\(word) in \(text)")
      }
    }
  }
}
