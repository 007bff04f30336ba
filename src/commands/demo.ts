export async function demoCommand(_args: string[]): Promise<number> {
  return 1;
}
