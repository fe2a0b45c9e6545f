/** What turns text around, hides in it, looks like a blank or ends its line unseen, and halves of characters. */
const UNSEEN =
  /(?! )\p{Zs}|\u2800|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/gu;

/** For text that others wrote and somebody decides by: whatever it holds is seen, as `\u{202e}`. */
export function showUnseen(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
