//! The Merkle tree of RFC 6962 (section 2.1): a root over leaf hashes, and proofs that a leaf is under it.

use sha2::{Digest, Sha256};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

const LEAF: u8 = 0;
const NODE: u8 = 1;

/// The hash of a leaf's data.
pub fn leaf_hash(data: &[u8]) -> Hash {
    Sha256::new().chain_update([LEAF]).chain_update(data).finalize().into()
}

/// The root over leaf hashes; of nothing, the hash of nothing.
pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node_hash(&root(left), &root(right))
        }
    }
}

/// The hashes that lead from a leaf to the root, the lowest first; `None` when there is no such leaf.
pub fn prove(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    let (mut subtree, mut index) = (leaves, index);
    while subtree.len() > 1 {
        let (left, right) = subtree.split_at(split(subtree.len()));
        if index < left.len() {
            path.push(root(right));
            subtree = left;
        } else {
            path.push(root(left));
            index -= left.len();
            subtree = right;
        }
    }
    path.reverse();
    Some(path)
}

/// Whether a path leads from the leaf at `index` of `size` leaves to the root.
pub fn includes(root: &Hash, size: u64, index: u64, leaf: &Hash, path: &[Hash]) -> bool {
    if index >= size {
        return false;
    }
    // RFC 9162, section 2.1.3.2: walk up, noting when the right edge of the tree is left.
    let (mut number, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in path {
        if last == 0 {
            return false;
        }
        if number & 1 == 1 || number == last {
            hash = node_hash(sibling, &hash);
            while number & 1 == 0 && number != 0 {
                number >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        number >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([NODE]).chain_update(left).chain_update(right).finalize().into()
}

/// The largest power of two below a length above one.
fn split(len: usize) -> usize {
    len.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::to_hex;

    /// The leaves that the test data of Certificate Transparency uses.
    fn reference_leaves() -> Vec<Hash> {
        let data: [&[u8]; 8] = [
            b"",
            &[0x00],
            &[0x10],
            &[0x20, 0x21],
            &[0x30, 0x31],
            &[0x40, 0x41, 0x42, 0x43],
            &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        data.iter().map(|data| leaf_hash(data)).collect()
    }

    #[test]
    fn roots_are_those_of_the_reference() {
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let leaves = reference_leaves();
        for (size, expected) in roots.iter().enumerate() {
            assert_eq!(to_hex(&root(&leaves[..size])), *expected, "{size} leaves");
        }
    }

    #[test]
    fn paths_are_those_of_the_reference() {
        let path = |index, size| -> Vec<String> {
            let path = prove(&reference_leaves()[..size], index).unwrap();
            path.iter().map(|hash| to_hex(hash)).collect()
        };
        assert_eq!(path(0, 1), [""; 0]);
        assert_eq!(
            path(0, 8),
            [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ]
        );
        assert_eq!(
            path(5, 8),
            [
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ]
        );
        assert_eq!(
            path(2, 3),
            ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]
        );
    }

    #[test]
    fn every_leaf_of_every_tree_is_provable_and_nothing_else_is() {
        let leaves: Vec<Hash> = (0_u8..70).map(|number| leaf_hash(&[number])).collect();
        let stranger = leaf_hash(b"stranger");
        for size in 1..=leaves.len() {
            let tree = &leaves[..size];
            let top = root(tree);
            for (index, leaf) in tree.iter().enumerate() {
                let path = prove(tree, index).unwrap();
                let (size, index) = (size as u64, index as u64);
                assert!(includes(&top, size, index, leaf, &path));
                assert!(!includes(&top, size, index, &stranger, &path));
                assert!(!includes(&stranger, size, index, leaf, &path));
                assert!(!includes(&top, size, size, leaf, &path));
                let longer = [path.as_slice(), &[stranger]].concat();
                assert!(!includes(&top, size, index, leaf, &longer));
                assert!(path.is_empty() || !includes(&top, size, index, leaf, &path[1..]));
                assert!(size == 1 || !includes(&top, size, (index + 1) % size, leaf, &path));
            }
            assert_eq!(prove(tree, size), None);
        }
    }
}
