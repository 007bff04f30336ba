const { content } = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')!;

/** The path of the service at its public address without a slash at the end, such as `/tocsin`. Empty at the root of a host. */
export const basePath = content.replace(/\/$/, '');
