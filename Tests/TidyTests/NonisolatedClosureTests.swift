import Testing

/// In modules with `NonisolatedNonsendingByDefault`, Swift 6.3 runs two forms of asynchronous code on no actor if the
/// caller's actor is known at run time only, and does not say so: an async closure with a capture list, and the
/// operation of `withTaskCancellationHandler`. A client then races with its own actor.
@Suite struct NonisolatedClosureTests {
  /// The one file whose operation uses nothing of an actor; others wait by it.
  private static let cancellableWait = "CancellableWait.swift"

  @Test func asyncClosuresStayOnTheirActor() throws {
    let targets = try Self.targets(LayeringTests.file("Package.swift"))
    #expect(targets.contains("GraphClient"))
    for (target, path, text) in try LayeringTests.sources("Sources") where targets.contains(target) {
      let code = SourceText(text).code
      let closures = Self.asyncClosuresWithCaptures(code)
      #expect(
        closures.isEmpty, "\(path): these run on no actor; capture by parameters, as client.spawn(for:): \(closures)")
      let isAllowed = path.hasSuffix("/" + Self.cancellableWait)
      #expect(isAllowed || !code.contains("withTaskCancellationHandler"), "\(path) must wait by CancellableWait")
    }
  }

  @Test(arguments: [
    ("spawn { [weak self] in await self?.run() }", true),
    ("spawn {\n  [weak self] in\n  if let self { try await run() }\n}", true),
    ("client.perform(after: 1) { [id] client in\n  list.forEach { print($0) }\n  await client.load(id)\n}", true),
    // Not asynchronous.
    ("post { [id] in $0.stop(id) }\nawait next()", false),
    // Without a capture list; a list of values is none.
    ("spawn(for: self) { owner in await owner.run() }", false), ("run { [1, 2].map { $0 } }; await next()", false),
    // The compiler knows the actor of a task.
    ("Task { [mailbox] in await mailbox.next() }", false),
  ])
  func asyncClosuresWithCapturesAreFound(code: String, isFound: Bool) {
    #expect(Self.asyncClosuresWithCaptures(code).isEmpty == !isFound)
  }

  /// The names of the targets that enable the feature.
  private static func targets(_ manifest: String) -> [String] {
    manifest.split(separator: "\n    .").filter { $0.contains("NonisolatedNonsendingByDefault") }.compactMap {
      $0.firstMatch(of: #/name: "([^"]+)"/#).map { String($0.output.1) }
    }
  }

  /// The heads of closures with a capture list and an `await`, other than those of tasks.
  private static func asyncClosuresWithCaptures(_ code: String) -> [String] {
    code.matches(of: #/(\w*)(?:\([^(){}]*\))? ?\{\s*\[[^\[\]]*\](?:\s+\w+|\s*\([^()]*\))?(?:\s+async)?\s+in\b/#)
      .compactMap {
        $0.output.1 != "Task" && body(code[$0.range.upperBound...]).contains("await ") ? String($0.output.0) : nil
      }
  }

  /// The rest of a block whose opening brace was read.
  private static func body(_ text: Substring) -> Substring {
    var depth = 1
    return text.prefix { character in
      if character == "{" { depth += 1 } else if character == "}" { depth -= 1 }
      return depth > 0
    }
  }
}
