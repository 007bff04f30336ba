type IocExtractor = {
  extractIOC: (text: string) => Record<string, unknown>;
};

const peerName = process.argv.find((word) => word.startsWith('--peer='))?.slice(7) ?? 'ioc-extractor';

/** Loads npm's ioc-extractor as a function from a text to its values, or undefined if it is not installed. */
export async function loadIocExtractor(): Promise<((text: string) => string[]) | undefined> {
  try {
    const { extractIOC } = (await import(peerName)) as IocExtractor;
    return (text) =>
      Object.values(extractIOC(text)).flatMap((values) => (Array.isArray(values) ? values.map(String) : []));
  } catch {
    console.log('ioc-extractor is not installed. Its figures are omitted.');
    return undefined;
  }
}
