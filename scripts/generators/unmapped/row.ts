/** Something that one era has and the other has not, and what comes of it. */
export type Row = {
  readonly what: string;
  readonly gets: string;
  readonly why: string;
  /** The file of the test that shows it, and the test's title. */
  readonly test: readonly [file: string, title: string];
};
