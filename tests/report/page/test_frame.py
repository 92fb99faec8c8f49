from gramme.report.page.frame import frame


def test_sections_without_content_are_left_out_with_their_link():
    text = frame(
        "report",
        "<i>mine</i>",
        "<p>done</p>",
        [("one", "First", "<p>1</p>"), ("two", "Second", "")],
        without_script="no <script>",
    )
    assert '<a href="#one">First</a>' in text
    assert '<section id="one" aria-labelledby="one-title">' in text
    assert "two" not in text
    assert "<p>done</p>" in text
    assert "&lt;i&gt;mine" in text
    assert "no &lt;script&gt;" in text
