import StickiesFiles
import Testing

@Suite struct HTMLTextTests {
  @Test(arguments: [
    ("<p>1 Sample Street</p>", "1 Sample Street"),
    (#"<p dir="ltr" style="line-height:1.38;"><span style="font-weight:400;">one</span></p><p>two</p>"#, "one\ntwo"),
    ("<p>one</p><br /><p>two</p>", "one\n\ntwo"),
    ("<p>one</p><p><br></p><p>two</p>", "one\n\ntwo"),
    ("<div>a<br>b</div>c", "a\nb\nc"),
    ("  much \n\t  blank  <b> space </b> here", "much blank space here"),
    ("a &amp; b &lt;c&gt; &quot;d&quot; &#39;e&#x27; &eacute;&nbsp;&nbsp;f &hellip;", "a & b <c> \"d\" 'e' é  f …"),
    ("&unknown; &amp &; & &#xD800; &#150;", "&unknown; &amp &; & \u{FFFD} –"),
    ("<ul><li>milk</li><li><p>eggs</p><ul><li>brown</li></ul></li></ul>end", "- milk\n- eggs\n  - brown\nend"),
    ("<ol><li>one</li><li></li><li>three</li></ol>", "1. one\n2. \n3. three"),
    ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc"),
    ("<pre>  a\n  b</pre>c", "  a\n  b\nc"),
    ("<head><title>t</title><style>p{}</style></head><body>seen<script>x<y</script> too</body>", "seen too"),
    ("a <!-- not <b>this</b> --> b", "a b"),
    ("a <!-- open <b>bold</b><br>line", "a <!-- open bold\nline"), ("a <!-- b --> c <!-- d", "a c <!-- d"),
    (#"a <img src="x.png" alt="tree"> b"#, "a tree b"),
    ("1 < 2 and <3", "1 < 2 and <3"),
    ("open <a href=\"x>y", "open <a href=\"x>y"),
    ("日本語<br>텍스트", "日本語\n텍스트"),
    ("", ""),
  ])
  func fragmentDecodesToItsText(html: String, text: String) { #expect(HTMLText(html).text == text) }

  @Test func imagesWithoutDescriptionAreReported() {
    let html = HTMLText(#"<img src="x.png">a<img src="y.png" alt=""><img alt="tree" src="z.png"><img>"#)
    #expect(html.text == "atree" && html.images == ["x.png", "y.png", "without an address"])
  }

  @Test func addressesAndFormattingAreReported() {
    let html = HTMLText(
      ##"<h1>T</h1><a href="https://example.org/?a=1&amp;b=2">x</a> <a href="#top">y</a>"##
        + #"<span style="font-style: italic">z</span>"#)
    #expect(html.addresses == ["https://example.org/?a=1&b=2"])
    #expect(html.formats == [.headings, .italic])
    #expect(HTMLText(#"<b style="font-weight:normal;"><p style="text-decoration:none">x</p></b>"#).formats == [])
    let struck = HTMLText(#"<strong>a</strong><span style="text-decoration:line-through">b</span>"#)
    #expect(struck.formats == [.bold, .strikethrough])
  }

  /// Open tags, comments and quotes are looked for once.
  @Test(.timeLimit(.minutes(5)), arguments: ["<a ", "<!--", "<a \"", "&#", "<script", "<li>", "</"])
  func unterminatedMarkupIsParsedInLinearTime(piece: String) {
    let source = String(repeating: piece, count: 20_000)
    #expect(HTMLText(source).text.utf8.count <= source.utf8.count * 40)
  }
}
