import type { createProductCollector } from '../../extraction/products/product-collector.ts';
import { asObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';

type ProductVersion = { vendor: string; product: string; version: string };

const productsMax = 20_000;
const depthMax = 30;

/** Returns the products of a document's tree by product id (CSAF 2.0, section 3.2.2). */
function readProductTree(tree: JsonObject): Map<string, ProductVersion> {
  const products = new Map<string, ProductVersion>();
  const put = (node: unknown, product: ProductVersion): void => {
    const id = asText(asObject(node)['product_id']);
    if (id && products.size < productsMax) products.set(id, product);
  };
  const walk = (branch: JsonObject, parent: ProductVersion, depth: number): void => {
    const name = asText(branch['name']) ?? '';
    const current = { ...parent };
    if (branch['category'] === 'vendor') current.vendor = name;
    else if (branch['category'] === 'product_name' || branch['category'] === 'product_family') current.product = name;
    else if (branch['category'] === 'product_version' || branch['category'] === 'product_version_range')
      current.version = name;
    else if (current.product === '') current.product = name;
    put(branch['product'], current.product === '' ? { ...current, product: readName(branch['product']) } : current);
    if (depth < depthMax) for (const child of asObjects(branch['branches'])) walk(child, current, depth + 1);
  };
  const toUnbranched = (node: unknown): ProductVersion => ({ vendor: '', product: readName(node), version: '' });
  for (const branch of asObjects(tree['branches'])) walk(branch, { vendor: '', product: '', version: '' }, 0);
  for (const product of asObjects(tree['full_product_names'])) put(product, toUnbranched(product));
  for (const relation of asObjects(tree['relationships'])) {
    const component = products.get(asText(relation['product_reference']) ?? '');
    const fullName = relation['full_product_name'];
    put(fullName, component ?? toUnbranched(fullName));
  }
  return products;
}

const readName = (product: unknown): string => asText(asObject(product)['name']) ?? '';

const affectedStatuses = ['known_affected', 'first_affected', 'last_affected'];

/** Adds the products that the document's vulnerabilities affect. */
export function addAffectedProducts(document: JsonObject, products: ReturnType<typeof createProductCollector>): void {
  const tree = readProductTree(asObject(document['product_tree']));
  for (const vulnerability of asObjects(document['vulnerabilities'])) {
    const status = asObject(vulnerability['product_status']);
    for (const id of affectedStatuses.flatMap((name) => asTexts(status[name]))) {
      const product = tree.get(id);
      if (product)
        products.add(
          product.vendor,
          product.product,
          product.version && product.version !== product.product ? [product.version] : [],
        );
    }
  }
}
