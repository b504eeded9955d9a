import Foundation
import Testing

/// The language of the project: plain English with the subject first. A sentence that begins with a noun clause or an
/// indefinite actor must be read twice, and a search for the field's term does not find it.
@Suite struct WordingTests {
  /// Flagged sentences in a thousand; other Swift projects of this kind have two to five.
  private static let budget = 5

  private static let openings: Set<String> = ["who", "whoever", "what", "whatever", "whose"]
  private static let openingPairs: Set<String> = [
    "so many", "of a", "of an", "of what", "of who", "of those", "for whom",
  ]
  private static let words: Set<String> = [
    "tell", "tells", "told", "telling", "somebody", "nobody", "anybody", "whoever", "whatever", "whomever", "anew",
  ]
  /// By their first word.
  private static let phrases = Dictionary(
    grouping: [
      ["no", "more"], ["any", "more"], ["all", "the", "same"], ["for", "ever"], ["give", "up"], ["gives", "up"],
      ["gives", "it", "up"], ["gives", "them", "up"], ["it", "is", "said"], ["it", "is", "told"],
      ["it", "is", "asked"], ["it", "is", "taken"], ["it", "is", "given"], ["it", "is", "kept"], ["is", "said", "so"],
    ], by: \.[0])

  /// The flagged sentences of a text, and how many sentences it has.
  private static func flagged(_ text: String) -> (sentences: Int, found: [String]) {
    var (count, found) = (0, [String]())
    for sentence in text.split(whereSeparator: { ".!?:;".contains($0) }) {
      let words = sentence.split { !$0.isLetter && $0 != "'" }.map { $0.lowercased() }
      guard words.count > 1 else { continue }
      count += 1
      let isCapitalized = sentence.first { $0.isLetter }?.isUppercase == true
      let opening =
        isCapitalized && (openings.contains(words[0]) || openingPairs.contains("\(words[0]) \(words[1])"))
      let phrase = words.indices.contains { start in
        phrases[words[start]]?.contains { words[start...].starts(with: $0) } == true
      }
      if opening || phrase || words.contains(where: Self.words.contains) { found.append(String(sentence)) }
    }
    return (count, found)
  }

  private static func check(_ texts: [(place: String, text: String)], _ kind: String) {
    var (count, found) = (0, [String]())
    for (place, text) in texts {
      let part = flagged(text)
      count += part.sentences
      found += part.found.map { "\(place): \($0)" }
    }
    #expect(found.count * 1000 <= max(budget * count, 1000), "\(kind): \(found.joined(separator: "\n"))")
  }

  @Test func sentencesAreWrittenSubjectFirst() throws {
    let files = try LayeringTests.sources("Sources").filter { !$0.path.contains("/Generated/") }
      .map { ($0.target, $0.path, SourceText.shared($0.text)) }
    let targets = Dictionary(grouping: files, by: \.0)
    #expect(targets.count > 15)
    for (target, files) in targets {
      Self.check(files.flatMap { file in file.2.comments.map { (file.1, $0) } }, "the comments of \(target)")
    }
    // Literals of fewer words are keys and names.
    let texts = files.flatMap { file in
      file.2.strings.filter { $0.count { $0 == " " } >= 2 }.map { (file.1, $0) }
    }
    Self.check(texts, "messages and help")
  }

  @Test func testsAndExamplesAreWrittenSubjectFirst() throws {
    let files = try LayeringTests.sources("Tests") + LayeringTests.sources("docs/examples")
    #expect(files.count > 300)
    let comments = files.filter { !$0.path.hasSuffix(".pb.swift") }.flatMap { file in
      SourceText.shared(file.text).comments.map { (file.path, $0) }
    }
    Self.check(comments, "the comments of tests and examples")
  }

  @Test func pagesAreWrittenSubjectFirst() throws {
    let pages = try LayeringTests.pages()
    #expect(pages.count > 20)
    // Programs and their output are checked as sources.
    let prose = pages.map { page in
      (
        page.path,
        page.text.split(separator: "```", omittingEmptySubsequences: false).enumerated()
          .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
      )
    }
    Self.check(prose, "the pages")
  }

  @Test func scriptsAreWrittenSubjectFirst() throws {
    let scripts = try LayeringTests.scripts()
    #expect(scripts.count > 20)
    let comments = scripts.map { script in
      let lines = script.text.split(separator: "\n").compactMap { line -> Substring? in
        let words = line.drop { $0 == " " }
        return words.hasPrefix("#") ? words.drop { $0 == "#" } : nil
      }
      let texts = script.text.split(separator: "\"\"\"", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      return (script.path, lines.joined(separator: " ") + ". " + texts.joined(separator: ". "))
    }
    Self.check(comments, "the comments of scripts")
  }

  @Test func privateWordingIsFound() {
    let texts = [
      "Whoever has nothing to do sleeps.", "What was told before it comes before it.", "Of a step nobody knows.",
      "The result comes anew.", "It is no more there.",
    ]
    for text in texts { #expect(Self.flagged(text).found.count == 1, "\(text)") }
    #expect(Self.flagged("An idle client sleeps between heartbeats. Flushes earlier frames first.").found.isEmpty)
  }
}
