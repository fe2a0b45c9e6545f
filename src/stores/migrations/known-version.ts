/** How many steps there are. Apart from them, so that a start which finds its tables up to date need not load what makes them. */
export const KNOWN_VERSION = 12;
